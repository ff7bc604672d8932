
// Brings a page that is served up to date, and leaves alone what is pointed at.
function renew(old, fresh) {
  if (!old || old.matches(':hover') || old.contains(document.activeElement)) return;
  const mine = [...old.querySelectorAll('details, .scroll')];
  [...fresh.querySelectorAll('details, .scroll')].forEach((node, i) => { if (mine[i] && mine[i].open) node.open = true; });
  const chosen = new Set([...old.querySelectorAll('input:checked')].map((box) => box.value));
  const off = new Set([...old.querySelectorAll('button[aria-pressed="false"]')].map((button) => button.textContent));
  old.replaceWith(fresh);
  [...fresh.querySelectorAll('.scroll')].forEach((node, i) => {
    const same = mine.filter((one) => one.matches('.scroll'))[i];
    if (same) { node.scrollTop = same.dataset.top || 0; node.scrollLeft = same.dataset.left || 0; }
  });
  for (const box of fresh.querySelectorAll('input')) box.checked = chosen.has(box.value);
  for (const figure of fresh.matches('figure') ? [fresh] : fresh.querySelectorAll('figure')) prepare(figure);
  for (const button of fresh.querySelectorAll('button[aria-pressed]')) if (off.has(button.textContent)) button.click();
}

const parts = (root) => [...root.querySelectorAll('main > dl, main > section > *, .figures > figure')].filter((one) => !one.matches('.figures'));
const shape = (root) => parts(root).map((one) => one.tagName + one.id + (one.closest('section') || {}).id).join();

function bring(page) {
  for (const node of document.querySelectorAll('.scroll')) { node.dataset.top = node.scrollTop; node.dataset.left = node.scrollLeft; }
  document.title = page.title;
  if (shape(document) !== shape(page)) {
    renewMain(page);
    return;
  }
  const fresh = parts(page);
  parts(document).forEach((old, i) => renew(old, document.adoptNode(fresh[i])));
}

function renewMain(page) {
  document.querySelector('nav').replaceWith(document.adoptNode(page.querySelector('nav')));
  const main = document.adoptNode(page.querySelector('main'));
  document.querySelector('main').replaceWith(main);
  main.querySelectorAll('figure').forEach(prepare);
}

const live = document.getElementById('live');
let state = live.dataset.state;
let busy = false;
let late = false;
async function load() {
  const answer = await fetch(location.href);
  if (!answer.ok) return;
  const page = new DOMParser().parseFromString(await answer.text(), 'text/html');
  state = page.getElementById('live').dataset.state;
  bring(page);
}
async function update() {
  if (busy || document.hidden) { late = true; return; }
  busy = true;
  late = false;
  try {
    await load();
  } finally {
    busy = false;
  }
  if (late) update();
}
document.addEventListener('visibilitychange', () => { if (late) update(); });
const source = new EventSource(`events${location.search}`);
source.onopen = () => { live.textContent = 'Live'; live.className = 'live on'; };
source.onerror = () => { live.textContent = 'Not connected: dl-plot has ended, or its host is not reached'; live.className = 'live'; };
// The server waits for its last page to be read, until this closes.
source.addEventListener('end', async () => {
  try {
    await load();
  } finally {
    source.close();
    live.textContent = 'Not live: the server has ended; this is its last page';
    live.className = 'live';
  }
});
source.onmessage = (event) => { if (event.data !== state) update(); };
