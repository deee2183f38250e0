/** The file picker of the system, for those who do not drag. */
import { openFiles, type Where } from './upload.js';

export function chooseFile(where: Where): void {
  const input = document.createElement('input');
  input.type = 'file';
  input.multiple = where === 'instead';
  input.addEventListener('change', () => openFiles([...(input.files ?? [])], where));
  input.click();
}
