/**
 * The script of the page, as text: draws the charts from their data, follows the theme, switches series, copies
 * commands. Plain JavaScript, because it runs in the reader's browser and is never compiled; without backslashes and
 * backticks, so that the text here is the text there.
 */
export const chartClient = `'use strict';
(() => {
  const root = document.documentElement;
  const all = selector => Array.from(document.querySelectorAll(selector));
  const media = name => window.matchMedia(name);
  const specs = JSON.parse(document.getElementById('report-data').textContent).charts;
  const scaled = (value, steps) => {
    const size = Math.abs(value);
    const step = steps.find(([limit]) => size < limit) || steps[steps.length - 1];
    return Number((value / step[1]).toPrecision(3)) + ' ' + step[2];
  };
  const formats = {
    duration: value => value === 0 ? '0' : scaled(value, [[1e3, 1, 'ns'], [1e6, 1e3, 'µs'], [1e9, 1e6, 'ms'], [Infinity, 1e9, 's']]),
    bytes: value => value === 0 ? '0' : scaled(value, [[1e3, 1, 'B'], [1e6, 1e3, 'kB'], [1e9, 1e6, 'MB'], [1e12, 1e9, 'GB'], [Infinity, 1e12, 'TB']]),
    hertz: value => value === 0 ? '0' : scaled(value, [[1e6, 1e3, 'kHz'], [1e9, 1e6, 'MHz'], [Infinity, 1e9, 'GHz']]),
    rate: value => Number(value.toPrecision(4)).toLocaleString('en-US', { maximumSignificantDigits: 4 }),
    percent: value => Number(value.toFixed(1)) + '%',
    plain: value => String(value),
  };
  const ink = name => getComputedStyle(root).getPropertyValue(name).trim();
  const drawn = [];

  function tooltip(spec) {
    const callbacks = spec.tips
      ? {
          title: items => items.length ? spec.tips[items[0].dataIndex][0] : '',
          label: item => spec.tips[item.dataIndex].slice(1),
        }
      : {
          title: items => items.length ? formats[spec.x](items[0].parsed.x) : '',
          label: item => item.dataset.label + ' ' + formats[spec.y](item.parsed.y),
        };
    return { callbacks, displayColors: !spec.tips, padding: 10, bodySpacing: 3 };
  }

  function axis(options, format, index) {
    const ticks = Object.assign({ maxRotation: 0, autoSkipPadding: 14 }, options.ticks);
    if (format !== 'plain') ticks.callback = value => formats[format](value);
    return Object.assign({}, options, {
      ticks: ticks,
      grid: Object.assign({}, options.grid),
      title: Object.assign({}, options.title),
      border: { display: index === 0 },
    });
  }

  function hatch(color) {
    const tile = document.createElement('canvas');
    tile.width = tile.height = 8;
    const pen = tile.getContext('2d');
    pen.fillStyle = color;
    pen.globalAlpha = 0.35;
    pen.fillRect(0, 0, 8, 8);
    pen.globalAlpha = 1;
    pen.strokeStyle = color;
    pen.lineWidth = 3.2;
    pen.beginPath();
    for (const at of [-8, 0, 8]) {
      pen.moveTo(at - 2, 10);
      pen.lineTo(at + 10, -2);
    }
    pen.stroke();
    return pen.createPattern(tile, 'repeat');
  }

  function draw(spec) {
    const canvas = all('canvas[data-chart]').find(one => one.dataset.chart === spec.id);
    if (!canvas) return;
    const scales = spec.options.scales;
    const options = Object.assign({}, spec.options, {
      animation: false,
      responsive: true,
      maintainAspectRatio: false,
      scales: { x: axis(scales.x, spec.x, 0), y: axis(scales.y, spec.y, 1) },
      plugins: { legend: { display: false }, tooltip: tooltip(spec) },
    });
    for (const set of spec.data.datasets.filter(one => one.hatched)) set.backgroundColor = hatch(set.backgroundColor);
    const chart = new Chart(canvas, { type: spec.type, data: spec.data, options: options });
    drawn.push(chart);
    const buttons = Array.from(canvas.closest('figure').querySelectorAll('[data-series]'));
    for (const button of buttons)
      button.addEventListener('click', () => {
        const index = Number(button.dataset.series);
        const visible = !chart.isDatasetVisible(index);
        chart.setDatasetVisibility(index, visible);
        button.setAttribute('aria-pressed', String(visible));
        chart.update('none');
      });
  }

  function paint() {
    const text = ink('--muted');
    const line = ink('--line');
    for (const chart of drawn) {
      for (const set of chart.data.datasets.filter(one => one.outline)) {
        set.borderColor = text;
        set.borderWidth = 0.5;
      }
      for (const scale of [chart.options.scales.x, chart.options.scales.y]) {
        scale.ticks.color = text;
        scale.title.color = text;
        scale.grid.color = line;
        scale.border.color = line;
      }
      chart.update('none');
    }
  }

  Chart.defaults.font.family = getComputedStyle(document.body).fontFamily;
  Chart.defaults.font.size = 12;
  specs.forEach(draw);
  paint();

  const dark = media('(prefers-color-scheme: dark)');
  const toggle = document.querySelector('[data-theme-toggle]');
  const isDark = () => root.dataset.theme ? root.dataset.theme === 'dark' : dark.matches;
  const name = () => { toggle.textContent = isDark() ? 'Light theme' : 'Dark theme'; };
  const retheme = () => { name(); paint(); };
  toggle.hidden = false;
  name();
  toggle.addEventListener('click', () => {
    root.dataset.theme = isDark() ? 'light' : 'dark';
    retheme();
  });
  dark.addEventListener('change', retheme);
  media('print').addEventListener('change', paint);

  // What a link leads to is opened; on paper nothing can be.
  const reveal = () => {
    const target = location.hash.length > 1 && document.getElementById(decodeURIComponent(location.hash.slice(1)));
    const folded = target && target.querySelector(':scope > details');
    if (folded) folded.open = true;
  };
  addEventListener('hashchange', reveal);
  for (const link of all('nav a, .actions a')) link.addEventListener('click', () => setTimeout(reveal));
  reveal();

  for (const button of all('[data-copy]')) {
    button.hidden = false;
    button.addEventListener('click', () => {
      const code = button.parentElement.querySelector('code');
      const said = text => {
        button.textContent = text;
        setTimeout(() => { button.textContent = 'Copy'; }, 1500);
      };
      const select = () => {
        getSelection().selectAllChildren(code);
        said('Selected');
      };
      if (!navigator.clipboard) select();
      else navigator.clipboard.writeText(code.textContent).then(() => said('Copied'), select);
    });
  }
  root.dataset.ready = 'yes';
})();
`;
