// The theme is the site's: the same key in the browser's storage, the same attribute of the body.
import { _ } from './language.js';

const NAMES = { auto: () => _('Theme: as the system'), light: () => _('Theme: light'), dark: () => _('Theme: dark') };
const SIGNS = { auto: '◐', light: '☀', dark: '☾' };
const ORDER = ['auto', 'light', 'dark'];

export const nextTheme = theme => ORDER[(ORDER.indexOf(theme) + 1) % ORDER.length];

/** Make a button switch the theme. */
export function themeSwitch(node, body = document.body) {
  const show = () => {
    const theme = body.dataset.theme;
    node.textContent = SIGNS[theme];
    node.title = NAMES[theme]();
    node.setAttribute('aria-label', node.title);
  };
  node.addEventListener('click', () => {
    body.dataset.theme = nextTheme(body.dataset.theme);
    try {
      localStorage.setItem('theme', body.dataset.theme);
    } catch { /* no storage: the theme holds until the page is closed */ }
    show();
  });
  if (!(body.dataset.theme in NAMES)) body.dataset.theme = 'auto';
  show();
}
