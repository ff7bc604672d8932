// Values under the pointer or chosen by arrow keys, and lines shown and hidden by the legend.
'use strict';

const tip = document.getElementById('tip');
const said = document.getElementById('said');
const short = (v) => (Number.isInteger(v) && Math.abs(v) < 1e7 ? String(v) : Number(v).toPrecision(4).replace(/\.?0+(e|$)/, '$1'));

function nearest(xs, x) {
  let low = 0;
  let high = xs.length - 1;
  while (high - low > 1) {
    const middle = (low + high) >> 1;
    if (xs[middle] < x) low = middle; else high = middle;
  }
  return Math.abs(xs[low] - x) <= Math.abs(xs[high] - x) ? low : high;
}

function prepare(figure) {
  const source = figure.querySelector('script[type="application/json"]');
  const svg = figure.querySelector('svg.chart');
  if (!source || !svg) return;
  const data = JSON.parse(source.textContent);
  const [left, top, width, height] = data.box;
  const [low, high] = data.range;
  const groups = [...svg.querySelectorAll('g.line')];
  const hidden = new Set();
  const cursor = document.createElementNS('http://www.w3.org/2000/svg', 'path');
  cursor.setAttribute('class', 'cursor');
  svg.append(cursor);
  svg.setAttribute('tabindex', '0');

  const places = [...new Set(data.lines.flatMap((line) => line.x))].sort((a, b) => a - b);
  let at = -1;

  function show(x, place, speak) {
    const rows = [];
    data.lines.forEach((line, i) => {
      if (hidden.has(i) || !line.x.length) return;
      const k = nearest(line.x, x);
      rows.push([groups[i].classList[1], line.name,
        short(line.y[k]) + (line.low ? ` (${short(line.low[k])} to ${short(line.high[k])})` : '')]);
    });
    tip.replaceChildren(`${data.x}: ${short(x)}`);
    for (const [color, name, value] of rows) {
      const row = document.createElement('div');
      const mark = document.createElement('i');
      mark.className = color;
      row.append(mark, data.lines.length > 1 ? `${name}: ${value}` : value);
      tip.append(row);
    }
    const px = left + (width * (x - low)) / (high - low);
    cursor.setAttribute('d', `M${px} ${top}v${height}`);
    tip.hidden = false;
    const box = svg.getBoundingClientRect();
    const middle = box.left + (px / svg.viewBox.baseVal.width) * box.width;
    const wide = tip.offsetWidth;
    const side = middle + 14 + wide > document.documentElement.clientWidth ? middle - 14 - wide : middle + 14;
    tip.style.left = `${Math.max(4, side) + window.scrollX}px`;
    tip.style.top = `${place + window.scrollY}px`;
    if (speak) said.textContent = tip.innerText;
  }
  function clear() {
    tip.hidden = true;
    cursor.removeAttribute('d');
  }
  svg.addEventListener('pointermove', (event) => {
    const box = svg.getBoundingClientRect();
    const x = low + ((((event.clientX - box.left) / box.width) * svg.viewBox.baseVal.width - left) / width) * (high - low);
    at = nearest(places, x);
    show(places[at], event.clientY + 12, false);
  });
  svg.addEventListener('pointerleave', clear);
  svg.addEventListener('blur', clear);
  svg.addEventListener('keydown', (event) => {
    const step = { ArrowLeft: -1, ArrowRight: 1, PageUp: -10, PageDown: 10, Home: -Infinity, End: Infinity }[event.key];
    if (step === undefined) return;
    event.preventDefault();
    at = Math.max(0, Math.min(places.length - 1, at + step));
    show(places[at], svg.getBoundingClientRect().top + 12, true);
  });
  for (const button of figure.querySelectorAll('.legend button'))
    button.addEventListener('click', () => {
      const i = Number(button.dataset.line);
      const shown = hidden.has(i);
      if (shown) hidden.delete(i); else hidden.add(i);
      button.setAttribute('aria-pressed', String(shown));
      groups[i].style.display = shown ? '' : 'none';
    });
}

document.querySelectorAll('figure').forEach(prepare);
