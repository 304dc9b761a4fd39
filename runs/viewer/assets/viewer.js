// Keys, filters, and what changed while a run goes on. Nothing here makes markup from text: pages come from the program.
(() => {
  'use strict';
  const keys = { ArrowLeft: 'previous', ArrowRight: 'next', u: 'up', h: 'home', f: 'first' };
  addEventListener('keydown', (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey || event.target.closest('input, select, textarea')) return;
    if (event.key === '/') {
      const field = document.querySelector('[data-key="filter"], [data-key="search"]');
      if (field) { event.preventDefault(); field.focus(); }
      return;
    }
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

  const address = document.querySelector('header.top')?.dataset.live;
  if (!address) return;
  const mark = document.querySelector('.live');
  const source = new EventSource(address);
  source.onopen = () => { mark.hidden = false; };
  source.onerror = () => { mark.hidden = true; };
  source.onmessage = async () => {
    const answer = await fetch(location.href);
    if (!answer.ok) return;
    const fresh = new DOMParser().parseFromString(await answer.text(), 'text/html').querySelector('main');
    if (!fresh) return;
    const before = [...document.querySelectorAll('form.filters')].map((form) => new FormData(form));
    const open = [...document.querySelectorAll('main details')].map((one) => one.open);
    document.querySelector('main').replaceWith(fresh);
    document.querySelectorAll('main details').forEach((one, place) => { one.open = open[place] ?? one.open; });
    document.querySelectorAll('form.filters').forEach((form, place) => {
      for (const [name, value] of before[place] ?? []) if (form.elements[name]) form.elements[name].value = value;
      filter(form);
    });
  };
})();
