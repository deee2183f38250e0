/** The list of keys, drawn from the table the handlers use. */
import { signal } from '@preact/signals';
import { useEffect, useRef } from 'preact/hooks';
import { keyGroups } from './keys.js';

const isOpen = signal(false);

export const openHelp = () => {
  isOpen.value = true;
};

export function Help() {
  const dialog = useRef<HTMLDialogElement>(null);
  useEffect(() => {
    if (isOpen.value) dialog.current?.showModal();
    else dialog.current?.close();
  }, [isOpen.value]);
  return (
    // biome-ignore lint/a11y/useKeyWithClickEvents: Escape closes a dialog already
    <dialog
      ref={dialog}
      class="help"
      aria-labelledby="help-title"
      onClose={() => {
        isOpen.value = false;
      }}
      onClick={event => {
        // The backdrop is the dialog itself.
        if (event.target === dialog.current) isOpen.value = false;
      }}
    >
      {isOpen.value && (
        <div class="help-box">
          <div class="block-head">
            <h2 id="help-title">Keyboard shortcuts</h2>
            <button
              type="button"
              class="small"
              onClick={() => {
                isOpen.value = false;
              }}
            >
              Close <kbd>Esc</kbd>
            </button>
          </div>
          <div class="help-groups">
            {keyGroups.map(({ title, bindings }) => (
              <section key={title}>
                <h3>{title}</h3>
                <dl>
                  {bindings.map(({ shown, does }) => (
                    <div key={shown.join() + does}>
                      <dt>
                        {shown.map(cap => (
                          <kbd key={cap}>{cap}</kbd>
                        ))}
                      </dt>
                      <dd>{does}</dd>
                    </div>
                  ))}
                </dl>
              </section>
            ))}
          </div>
          <p class="muted">
            Select steps in the strip: the verdict, the timeline and every panel update to match.
          </p>
        </div>
      )}
    </dialog>
  );
}
