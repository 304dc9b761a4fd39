// Keys, filters, and what changed while a run goes on. Nothing here makes markup from text: pages come from the program.
(() => {
  'use strict';
  const keys = { ArrowLeft: 'previous', ArrowRight: 'next', u: 'up', h: 'home', f: 'first', b: 'beside' };
  const FIELDS = 'input:not([type="checkbox"]), select, textarea';
  const help = document.getElementById('keys');
  help?.querySelector('button').addEventListener('click', () => help.close());

  // What j and k go through: the link of each row, hit and list of answers, and each call of a step.
  const stops = () => [...document.querySelectorAll('main tbody tr, main ol.hits li, main #answers li, main details.tool')]
    .map((one) => one.querySelector('a[href], summary')).filter((one) => one?.checkVisibility());
  function go(isForward) {
    const all = stops();
    const here = document.activeElement;
    const side = isForward ? Node.DOCUMENT_POSITION_FOLLOWING : Node.DOCUMENT_POSITION_PRECEDING;
    const beyond = here === document.body ? all : all.filter((one) => here.compareDocumentPosition(one) & side);
    beyond.at(isForward ? 0 : -1)?.focus();
  }
  function fold() {
    const all = [...document.querySelectorAll('main details.tool')];
    const opens = all.some((one) => !one.open);
    all.forEach((one) => { one.open = opens; });
  }
  // Leaves a field, or folds the innermost open part that holds the keyboard and puts the keyboard on its heading.
  function leave(target) {
    if (target.matches(FIELDS)) { target.blur(); return; }
    const open = target.closest('details[open]');
    if (open) { open.open = false; open.querySelector('summary').focus(); }
  }
  // Two episodes of any experiments to lay side by side: they are kept while pages change.
  const boxes = () => [...document.querySelectorAll('input.choose')];
  // An exported site compares nothing.
  const compares = document.querySelector('header.top')?.hasAttribute('data-compares') ?? false;
  // A browser may keep nothing of a page, and others may have kept there what is no list: nothing is chosen then.
  function chosen() {
    try {
      const all = compares ? JSON.parse(sessionStorage.getItem('chosen')) : [];
      return Array.isArray(all) ? all : [];
    } catch { return []; }
  }
  function keep(all) {
    try { sessionStorage.setItem('chosen', JSON.stringify(all)); } catch { /* It is forgotten with this page. */ }
    tell();
  }
  function choose(slug, takes) {
    const others = chosen().filter((one) => one !== slug);
    keep(takes ? [...others.slice(-1), slug] : others);
  }
  const bar = document.createElement('p');
  bar.setAttribute('role', 'status');
  document.querySelector('header.top')?.append(bar);
  function tell() {
    const all = chosen();
    boxes().forEach((box) => { box.checked = all.includes(box.value); });
    if (all.length === 0) { bar.replaceChildren(); return; }
    const link = document.createElement('a');
    link.href = new URL(`compare.html?${new URLSearchParams({ a: all[0], b: all[1] })}`, document.querySelector('a[data-key="home"]').href).href;
    link.dataset.key = 'beside';
    link.textContent = `${all[0]} beside ${all[1]}`;
    const clear = document.createElement('button');
    clear.type = 'button';
    clear.textContent = 'Choose none';
    clear.addEventListener('click', () => keep([]));
    bar.replaceChildren('Side by side: ', all.length === 1 ? `${all[0]} and another that you choose ` : link, ' ', clear);
  }
  document.addEventListener('change', ({ target }) => { if (target.matches('input.choose')) choose(target.value, target.checked); });
  // The episode of the row that the keyboard is in, or of the page.
  function pick() {
    const box = document.activeElement.closest('tr')?.querySelector('input.choose') ?? document.querySelector('#beside input.choose');
    if (box) choose(box.value, !box.checked);
  }
  tell();
  const acts = { c: pick, '?': () => help?.showModal(), j: () => go(true), k: () => go(false), e: fold };
  addEventListener('keydown', (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey || help?.open) return;
    if (event.key === 'Escape') { leave(event.target); return; }
    if (event.target.closest(FIELDS)) return;
    if (event.key === '/') {
      const field = document.querySelector('[data-key="filter"], [data-key="search"]');
      if (field) { event.preventDefault(); field.focus(); }
      return;
    }
    if (acts[event.key]) { event.preventDefault(); acts[event.key](); return; }
    // A box that scrolls keeps its arrows.
    if (event.key.startsWith('Arrow') && event.target.closest('.scroll')) return;
    const links = document.querySelectorAll(`a[data-key="${keys[event.key] ?? ''}"]`);
    if (0 < links.length) location.assign(links[links.length - 1].href);
  });

  const has = (row, name, value) => (row.dataset[name] ?? '').split('\n').includes(value);
  function filter(form) {
    const rows = document.querySelectorAll(form.dataset.filter);
    const words = (form.elements.words?.value ?? '').toLowerCase().split(/\s+/).filter(Boolean);
    const chosen = [...form.querySelectorAll('select')].filter((one) => one.value !== '');
    let shown = 0;
    for (const row of rows) {
      const text = `${row.dataset.words ?? ''} ${row.textContent}`.toLowerCase();
      const fits = words.every((word) => text.includes(word)) && chosen.every((one) => has(row, one.name, one.value));
      row.hidden = !fits;
      shown += fits ? 1 : 0;
    }
    form.querySelector('.count').textContent = shown === rows.length ? '' : `${shown} of ${rows.length}`;
  }
  document.addEventListener('input', (event) => {
    const form = event.target.closest('form.filters');
    if (form) filter(form);
  });
  document.addEventListener('submit', (event) => {
    if (event.target.closest('form.filters')) event.preventDefault();
  });

  // Headings of a table become buttons that sort it: by number where cells have one, else by text; empty cells last.
  const value = (row, column) => {
    const cell = row.cells[column];
    // A cell that spans the rest of its row has no value of this column.
    if (!cell || 1 < cell.colSpan) return null;
    const text = (cell.dataset.value ?? cell.textContent).trim();
    return text === '' ? null : Number.isNaN(Number(text)) ? text : Number(text);
  };
  function sort(table, column, rises) {
    const rows = [...table.tBodies[0].rows].map((row, place) => ({ row, place, key: value(row, column) }));
    const compare = (a, b) => typeof a === 'number' && typeof b === 'number' ? a - b : String(a).localeCompare(String(b), undefined, { numeric: true });
    rows.sort((a, b) => {
      if (a.key === null || b.key === null) return (a.key === null) - (b.key === null) || a.place - b.place;
      return (rises ? 1 : -1) * compare(a.key, b.key) || a.place - b.place;
    });
    table.tBodies[0].append(...rows.map((one) => one.row));
  }
  function sortable(table) {
    const headings = [...table.tHead.rows[0].cells];
    headings.forEach((heading, column) => {
      const button = document.createElement('button');
      button.append(...heading.childNodes);
      heading.append(button);
      button.addEventListener('click', () => {
        const rises = heading.getAttribute('aria-sort') !== 'ascending';
        headings.forEach((other) => other.removeAttribute('aria-sort'));
        heading.setAttribute('aria-sort', rises ? 'ascending' : 'descending');
        sort(table, column, rises);
      });
    });
  }
  const sortables = () => [...document.querySelectorAll('table.sortable')];
  sortables().forEach(sortable);
  // Which column each table is sorted by.
  const orders = () => sortables().map((table) => {
    const headings = [...table.tHead.rows[0].cells];
    const column = headings.findIndex((heading) => heading.hasAttribute('aria-sort'));
    return column < 0 ? null : { column, direction: headings[column].getAttribute('aria-sort') };
  });
  function restore(before) {
    sortables().forEach((table, place) => {
      sortable(table);
      const order = before[place];
      if (!order) return;
      table.tHead.rows[0].cells[order.column].setAttribute('aria-sort', order.direction);
      sort(table, order.column, order.direction === 'ascending');
    });
  }

  // Where the keyboard is, by what it is on: in a newer form of the page other rows may stand before it.
  const named = (one) => `${one.tagName} ${one.getAttribute('href') ?? one.getAttribute('name') ?? one.getAttribute('aria-label')
    ?? (one.matches('button, summary') ? one.textContent : '')}`;
  const alike = (name) => [...document.querySelectorAll('main :is(a[href], button, input, select, summary, [tabindex])')]
    .filter((one) => named(one) === name);

  // What a reader has done to a page, so that a newer form of it takes its place unnoticed.
  function taken() {
    const field = document.activeElement;
    const name = field ? named(field) : '';
    return {
      forms: [...document.querySelectorAll('form.filters')].map((form) => new FormData(form)),
      order: orders(),
      open: [...document.querySelectorAll('main details')].map((one) => one.open),
      boxes: [...document.querySelectorAll('main .scroll')].map((box) => [box.scrollLeft, box.scrollTop]),
      focus: { name, place: alike(name).indexOf(field) },
      caret: field?.type === 'search' ? [field.selectionStart, field.selectionEnd] : null,
    };
  }
  function give(before) {
    document.querySelectorAll('main details').forEach((one, place) => { one.open = before.open[place] ?? one.open; });
    restore(before.order);
    tell();
    document.querySelectorAll('form.filters').forEach((form, place) => {
      for (const [name, value] of before.forms[place] ?? []) if (form.elements[name]) form.elements[name].value = value;
      filter(form);
    });
    document.querySelectorAll('main .scroll').forEach((box, place) => box.scrollTo(...(before.boxes[place] ?? [0, 0])));
    const field = alike(before.focus.name)[before.focus.place];
    field?.focus({ preventScroll: true });
    if (before.caret) field?.setSelectionRange?.(...before.caret);
  }

  const address = document.querySelector('header.top')?.dataset.live;
  if (!address) return;
  const mark = document.querySelector('.live');
  let source = null;
  async function refresh() {
    // A server that has ended sends nothing newer, and a page that is left needs nothing.
    const text = await fetch(location.href).then((answer) => (answer.ok ? answer.text() : '')).catch(() => '');
    const fresh = new DOMParser().parseFromString(text, 'text/html').querySelector('main');
    if (!fresh) return;
    const before = taken();
    document.querySelector('main').replaceWith(fresh);
    give(before);
    markLive();
  }
  // A page follows its files also while nobody writes them: a run may begin. It is live while one is on.
  function markLive() {
    mark.hidden = source?.readyState !== EventSource.OPEN || !document.querySelector('main[data-running]');
  }
  function open() {
    source = new EventSource(address);
    source.onopen = markLive;
    source.onerror = markLive;
    source.onmessage = refresh;
  }
  // A browser holds few connections to one server: a page that nobody looks at gives its own back.
  document.addEventListener('visibilitychange', () => {
    if (document.hidden) {
      source?.close();
      source = null;
    } else if (!source) {
      open();
      refresh();
    }
  });
  if (!document.hidden) open();
})();
