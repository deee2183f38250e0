/** A button that opens a small box under it; Escape, a click elsewhere or leaving it closes the box. */
import type { ComponentChildren } from 'preact';
import { useEffect, useRef, useState } from 'preact/hooks';

export function Menu(props: {
  readonly label: string;
  /** Where the label alone says too little. */
  readonly name?: string;
  readonly look?: string;
  readonly disabled?: boolean;
  readonly children: (close: () => void) => ComponentChildren;
}) {
  const { label, name, look, disabled = false, children } = props;
  const [isOpen, setOpen] = useState(false);
  const root = useRef<HTMLDivElement>(null);
  const button = useRef<HTMLButtonElement>(null);
  useEffect(() => {
    if (!isOpen) return;
    const outside = (event: Event) => {
      if (!root.current?.contains(event.target as Node)) setOpen(false);
    };
    document.addEventListener('pointerdown', outside);
    document.addEventListener('focusin', outside);
    return () => {
      document.removeEventListener('pointerdown', outside);
      document.removeEventListener('focusin', outside);
    };
  }, [isOpen]);
  const close = () => {
    setOpen(false);
    button.current?.focus();
  };
  return (
    // biome-ignore lint/a11y/noStaticElementInteractions: Escape closes from wherever the focus is inside
    <div
      class="menu"
      ref={root}
      onKeyDown={event => {
        if (event.key !== 'Escape' || !isOpen) return;
        event.preventDefault();
        close();
      }}
    >
      <button
        type="button"
        class={look}
        ref={button}
        disabled={disabled}
        aria-expanded={isOpen}
        aria-label={name}
        onClick={() => setOpen(!isOpen)}
      >
        {label}
      </button>
      {isOpen && <div class="menu-box">{children(close)}</div>}
    </div>
  );
}
