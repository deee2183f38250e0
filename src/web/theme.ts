/** Light or dark: as the system has it, until somebody says otherwise; then as they said, also next time. */
import { signal } from '@preact/signals';

type Theme = 'light' | 'dark';

const KEY = 'stepscope-theme';
const system = window.matchMedia('(prefers-color-scheme: dark)');

function remembered(): Theme | null {
  // Storage may be forbidden; then the system decides.
  try {
    const theme = localStorage.getItem(KEY);
    return theme === 'light' || theme === 'dark' ? theme : null;
  } catch {
    return null;
  }
}

const systemTheme = (): Theme => (system.matches ? 'dark' : 'light');

/** What is on screen; canvases draw again when it changes. */
export const theme = signal<Theme>(remembered() ?? systemTheme());

const apply = () => {
  document.documentElement.dataset.theme = theme.value;
};

system.addEventListener('change', () => {
  if (remembered()) return;
  theme.value = systemTheme();
  apply();
});
apply();

export function toggleTheme(): void {
  theme.value = theme.value === 'dark' ? 'light' : 'dark';
  apply();
  try {
    localStorage.setItem(KEY, theme.value);
  } catch {
    // Not remembered, then.
  }
}
