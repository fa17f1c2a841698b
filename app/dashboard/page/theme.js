// @ts-check
// Light or dark: as the system says until somebody chooses. It is read before
// the first paint, so that no wrong colours flash.

const name = 'lamplighter-theme';
export const themes = ['system', 'light', 'dark'];

export function theme() {
  const kept = read();
  return themes.includes(kept) ? kept : 'system';
}

export function setTheme(wanted) {
  try {
    if (wanted === 'system') localStorage.removeItem(name);
    else localStorage.setItem(name, wanted);
  } catch {
    // Without storage the choice lasts as long as the page.
  }
  show(wanted);
}

function read() {
  try {
    return localStorage.getItem(name);
  } catch {
    return null;
  }
}

function show(wanted) {
  if (wanted === 'system') delete document.documentElement.dataset.theme;
  else document.documentElement.dataset.theme = wanted;
  dispatchEvent(new CustomEvent('themechange'));
}

if (globalThis.document) {
  show(theme());
  // Another tab of the page may choose.
  addEventListener('storage', (event) => { if (event.key === name) show(theme()); });
}
