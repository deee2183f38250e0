/** Elements by hand, for a part that stands in the page of `view` and in a report. Text is only ever text. */
export function element<Tag extends keyof HTMLElementTagNameMap>(
  tag: Tag,
  attributes: Readonly<Record<string, string>> = {},
  ...children: readonly (Node | string)[]
): HTMLElementTagNameMap[Tag] {
  const made = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) made.setAttribute(name, value);
  made.append(...children);
  return made;
}

/** Buttons of which one is pressed. */
export function choice<Value extends string>(
  label: string,
  options: readonly (readonly [value: Value, text: string])[],
  choose: (value: Value) => void,
): { readonly group: HTMLElement; press(value: Value): void } {
  const buttons = options.map(([value, text]) => {
    const button = element('button', { type: 'button', class: 'small' }, text);
    button.addEventListener('click', () => choose(value));
    return { value, button };
  });
  const group = element('div', { role: 'group', 'aria-label': label }, ...buttons.map(one => one.button));
  return {
    group,
    press: value => {
      for (const one of buttons) one.button.setAttribute('aria-pressed', String(one.value === value));
    },
  };
}
