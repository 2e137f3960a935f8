// Two sides with a line between them that moves; on a narrow window one side at a time. Tabs of the desk.
import { find } from './dom.js';

const STEP = 4; // per cent that a key moves the line
const KEY = 'kuiper-live-width';

export function startLayout() {
  const divider = find('divider');
  const set = percent => {
    const width = Math.min(80, Math.max(20, percent));
    document.documentElement.style.setProperty('--lecture-width', `${width}%`);
    divider.setAttribute('aria-valuenow', Math.round(width));
    try {
      localStorage.setItem(KEY, width);
    } catch { /* no storage: the width holds until the page is closed */ }
  };
  set(Number(readWidth()) || 50);
  divider.addEventListener('pointerdown', event => {
    divider.setPointerCapture(event.pointerId);
    const move = moved => set((100 * moved.clientX) / document.body.clientWidth);
    divider.addEventListener('pointermove', move);
    divider.addEventListener('pointerup', () => divider.removeEventListener('pointermove', move), { once: true });
  });
  divider.addEventListener('keydown', event => {
    const way = { ArrowLeft: -STEP, ArrowRight: STEP }[event.key];
    if (way) set(Number(divider.getAttribute('aria-valuenow')) + way);
  });
  find('show-lecture').addEventListener('click', () => showSide('lecture'));
  find('show-desk').addEventListener('click', () => showSide('desk'));
  document.querySelector('.skip').addEventListener('click', event => {
    event.preventDefault(); // its address would be another lecture's
    goToDesk();
  });
  showSide('lecture');
}

function readWidth() {
  try {
    return localStorage.getItem(KEY);
  } catch {
    return null;
  }
}

/** On a narrow window: the side that is seen. */
export function showSide(side) {
  document.body.dataset.side = side;
  find('show-lecture').setAttribute('aria-pressed', side === 'lecture');
  find('show-desk').setAttribute('aria-pressed', side === 'desk');
}

/** Let the reader go on at the desk, who has come with keys, too. */
export function goToDesk() {
  showSide('desk');
  find('desk').focus();
}

/** The tabs of the desk; `choose(name)` is called when the reader takes one. */
export function startTabs(choose) {
  const tabs = [...find('tabs').children];
  for (const tab of tabs) {
    tab.addEventListener('click', () => choose(tab.getAttribute('aria-controls')));
    tab.addEventListener('keydown', event => {
      const way = { ArrowLeft: -1, ArrowRight: 1 }[event.key];
      if (!way) return;
      const next = tabs.at((tabs.indexOf(tab) + way) % tabs.length);
      next.focus();
      next.click();
    });
  }
}

export function showTab(name) {
  for (const tab of find('tabs').children) {
    const panel = tab.getAttribute('aria-controls');
    tab.setAttribute('aria-selected', panel === name);
    tab.tabIndex = panel === name ? 0 : -1;
    find(panel).hidden = panel !== name;
  }
}
