'use strict';

/** How often the service is asked, and how many answers the charts show. */
const EVERY_MS = 1000;
const POINTS = 120;
const MAX_CHANGES = 100;
const MAX_RECALLS = 20;
/** From this many changes at once on they are summed up. */
const TOLD_ONE_BY_ONE = 8;
/** With more domains than this each has little room: of a worker only its number is seen, and how much waits. */
const MAX_ROOMY = 6;

const byId = id => document.getElementById(id);

/** An element with properties and children; text is always text, never markup. */
function element(name, properties = {}, ...children) {
  const made = Object.assign(document.createElement(name), properties);
  made.append(...children);
  return made;
}

async function ask(path, options) {
  const response = await fetch(path, options);
  const body = await response.json();
  if (!response.ok) {
    throw new Error(body.error ?? `the service answered ${response.status}`);
  }
  return body;
}

const count = (number, thing) => `${number.toLocaleString('en')} ${thing}${number === 1 ? '' : 's'}`;

function bytes(number) {
  const units = ['B', 'KiB', 'MiB', 'GiB', 'TiB'];
  let unit = 0;
  while (number >= 1024 && unit < units.length - 1) {
    number /= 1024;
    unit++;
  }
  return `${number.toFixed(unit === 0 || number >= 100 ? 0 : 1)} ${units[unit]}`;
}

// The machine: packages, domains, workers, and the tables that live there.

const domainViews = new Map();
const workerViews = new Map();

function drawMachine(topology, stats) {
  const packages = Map.groupBy(topology.domains, domain => domain.package);
  byId('machine').classList.toggle('compact', topology.domains.length > MAX_ROOMY);
  byId('machine').replaceChildren(...[...packages].map(([id, domains]) =>
    element('section', {className: 'package', ariaLabel: `Package ${id}`},
      element('h3', {textContent: `Package ${id}`}),
      element('ul', {className: 'domains'}, ...domains.map(domain => drawDomain(domain, stats))))));
}

function drawDomain(domain, stats) {
  const view = {
    traffic: element('p', {className: 'traffic', textContent: 'no traffic yet'}),
    summary: element('summary', {textContent: 'no tables'}),
    tables: element('ul', {className: 'tables'}),
    bytesBefore: undefined
  };
  const workers = stats.orchestrator.workers.filter(worker => worker.domain === domain.id);
  const cache = domain.cacheBytes > 0 ? `, ${bytes(domain.cacheBytes)} cache` : '';
  view.box = element('li', {className: 'domain', ariaLabel: `Cache domain ${domain.id}`},
    element('h4', {textContent: `Cache domain ${domain.id}${cache}`}),
    view.traffic,
    element('ul', {className: 'workers', ariaLabel: `Workers of cache domain ${domain.id}`},
      ...workers.map(drawWorker)),
    element('details', {}, view.summary, view.tables));
  domainViews.set(domain.id, view);
  return view.box;
}

function drawWorker(worker) {
  const view = {where: element('span', {className: 'more'}), waiting: element('span', {className: 'waiting'})};
  view.box = element('li', {}, element('span', {className: 'more', textContent: 'worker '}), `${worker.worker}`,
    view.where, view.waiting, element('span', {className: 'more', textContent: ' waiting'}));
  workerViews.set(worker.worker, view);
  return view.box;
}

function showWorkers(workers) {
  for (const worker of workers) {
    const view = workerViews.get(worker.worker);
    view.where.textContent = worker.pin?.pinned ? ` on core ${worker.core}, ` : ' not pinned, ';
    view.waiting.textContent = worker.waiting;
    view.box.dataset.waits = worker.waiting > 0;
    view.box.title = view.box.textContent;
  }
}

function showTraffic(domains, seconds) {
  const moved = domains.map(domain => {
    const view = domainViews.get(domain.domain);
    const before = view.bytesBefore ?? domain.trafficBytes;
    view.bytesBefore = domain.trafficBytes;
    return Math.max(0, domain.trafficBytes - before);
  });
  const all = moved.reduce((a, b) => a + b, 0);
  domains.forEach((domain, i) => {
    const view = domainViews.get(domain.domain);
    const share = all === 0 ? 0 : Math.round(100 * moved[i] / all);
    // Four times an even share is the darkest, so that one is seen among many.
    view.box.style.setProperty('--heat', Math.min(100, Math.round(share * domains.length / 4)));
    view.box.dataset.share = share;
    view.traffic.replaceChildren(
      element('strong', {textContent: `${share} %`}), ' of the traffic', element('span', {className: 'more',
        textContent: `, ${bytes(moved[i] / seconds)}/s; ${bytes(domain.trafficBytes)} since the start`}));
    view.traffic.title = `${bytes(moved[i] / seconds)}/s; ${bytes(domain.trafficBytes)} since the start`;
  });
  showStrip(domains.map(domain => domain.domain), moved.map(part => part / seconds));
}

// The traffic of each domain over time: a row each, the latest second at the right.

const strip = [];

function showStrip(ids, rates) {
  strip.push(rates);
  strip.splice(0, strip.length - POINTS);
  const figure = byId('traffic');
  const canvas = figure.querySelector('canvas');
  if (canvas.height !== ids.length || canvas.width !== POINTS) {
    Object.assign(canvas, {width: POINTS, height: ids.length});
    figure.style.setProperty('--rows', ids.length);
    byId('traffic-domains').replaceChildren(...ids.map(id => element('li', {textContent: id})));
  }
  const max = Math.max(1, ...strip.flat());
  const brush = canvas.getContext('2d');
  brush.clearRect(0, 0, canvas.width, canvas.height);
  brush.fillStyle = getComputedStyle(document.documentElement).getPropertyValue('--hot');
  strip.forEach((second, x) => second.forEach((rate, y) => {
    brush.globalAlpha = rate / max;
    brush.fillRect(POINTS - strip.length + x, y, 1, 1);
  }));
  const busiest = rates.indexOf(Math.max(...rates));
  const words = rates[busiest] === 0 ? 'none now' : `most now in domain ${ids[busiest]}, ${bytes(rates[busiest])}/s`;
  figure.querySelector('p').textContent = `A row per domain, darkest at ${bytes(max)}/s; ${words}.`;
  canvas.setAttribute('aria-label', `Traffic of each cache domain: ${words}`);
}

function showTables(mapping) {
  const living = new Map([...domainViews.keys()].map(id => [id, []]));
  for (const table of mapping.tables) {
    for (const id of new Set(table.homes.flat())) {
      living.get(id).push(table.name);
    }
  }
  for (const [id, names] of living) {
    const view = domainViews.get(id);
    view.summary.textContent = `${count(names.length, 'table')} at home here`;
    view.tables.replaceChildren(...names.map(name => element('li', {textContent: name})));
  }
}

// Measured recalls.

const asPercent = share => (100 * share).toFixed(1);

function showRecalls(tables) {
  const measured = tables.filter(table => table.recall).sort((a, b) => a.recall.recall - b.recall.recall);
  byId('recalls').replaceChildren(...measured.slice(0, MAX_RECALLS).map(({name, recall}) => element('li', {},
    recall.alarm ? element('strong', {textContent: 'Alarm: '}) : '',
    `${name}: ${asPercent(recall.recall)} % (${asPercent(recall.low)} to ${asPercent(recall.high)} with 95 % confidence), `
      + `${count(recall.samples, 'sample')}`)));
}

// Charts.

const SVG = 'http://www.w3.org/2000/svg';

/** A chart of one or several series under a figure's caption, with its latest values in words. */
function chart(id, names, digits) {
  const figure = byId(id);
  const title = figure.querySelector('figcaption').textContent;
  const svg = document.createElementNS(SVG, 'svg');
  svg.setAttribute('viewBox', `0 0 ${POINTS - 1} 100`);
  svg.setAttribute('preserveAspectRatio', 'none');
  svg.setAttribute('role', 'img');
  const lines = names.map(() => svg.appendChild(document.createElementNS(SVG, 'polyline')));
  const words = element('p');
  figure.append(svg, words);
  const values = names.map(() => []);
  return latest => {
    latest.forEach((value, i) => values[i] = [...values[i], value].slice(-POINTS));
    const max = Math.max(1e-9, ...values.flat());
    lines.forEach((line, i) => line.setAttribute('points', values[i]
      .map((value, x) => `${POINTS - values[i].length + x},${(98 - 94 * value / max).toFixed(1)}`).join(' ')));
    const told = names.map((name, i) => `${name} ${latest[i].toFixed(digits)}`).join(', ');
    words.textContent = `${told}; at most ${max < 1e-6 ? 0 : max.toFixed(digits)}`;
    svg.setAttribute('aria-label', `${title}: ${words.textContent}`);
  };
}

// Changes of the mapping.

const homesOf = mapping => new Map(mapping.tables.map(table => [table.name, JSON.stringify(table.homes)]));
const inWords = homes => {
  const ids = [...new Set(JSON.parse(homes).flat())].sort((a, b) => a - b);
  return ids.length === 1 ? `domain ${ids[0]}` : `domains ${ids.join(', ')}`;
};

function changesBetween(before, after) {
  const changes = [];
  for (const [name, homes] of after) {
    if (!before.has(name)) {
      changes.push(`${name} was added, home: ${inWords(homes)}`);
    } else if (before.get(name) !== homes) {
      changes.push(`${name} moved from ${inWords(before.get(name))} to ${inWords(homes)}`);
    }
  }
  for (const name of before.keys()) {
    if (!after.has(name)) {
      changes.push(`${name} was removed`);
    }
  }
  return changes;
}

function tellChanges(epoch, changes) {
  const told = changes.length > TOLD_ONE_BY_ONE
    ? [...changes.slice(0, TOLD_ONE_BY_ONE), `and ${count(changes.length - TOLD_ONE_BY_ONE, 'more change')}`]
    : changes;
  const now = new Date();
  const entries = told.map(change => element('li', {},
    element('time', {dateTime: now.toISOString(), textContent: now.toLocaleTimeString()}),
    ` epoch ${epoch}: ${change}`));
  byId('changes').prepend(...entries);
  while (byId('changes').children.length > MAX_CHANGES) {
    byId('changes').lastChild.remove();
  }
}

// The search box.

function costInWords(answer) {
  const sum = of => answer.ran.reduce((all, ran) => all + ran[of], 0);
  return ` ${count(sum('visited'), 'vector')} were compared, ${sum('expanded').toLocaleString('en')} graph nodes or lists were read.`;
}

function ranInWords(answer) {
  const millis = (answer.micros / 1000).toFixed(1);
  const one = answer.ran.length === 1;
  const what = one ? `Table ${answer.ran[0].table} was searched` : `${count(answer.ran.length, 'table')} were searched`;
  if (answer.ran.some(ran => ran.worker === undefined)) {
    return `${what} in ${millis} ms.`;
  }
  if (one) {
    const [{worker, domain}] = answer.ran;
    return `${what} in ${millis} ms by worker ${worker} on cache domain ${domain}.`;
  }
  const byWorker = Map.groupBy(answer.ran, ran => ran.worker);
  const byDomain = Map.groupBy(answer.ran, ran => ran.domain);
  const parts = byWorker.size > TOLD_ONE_BY_ONE
    ? [`${count(byWorker.size, 'worker')} on cache domains `
      + [...byDomain].sort(([a], [b]) => a - b).map(([domain, ran]) => `${domain} (${ran.length})`).join(', ')]
    : [...byWorker].sort(([a], [b]) => a - b).map(([worker, ran]) =>
      `worker ${worker} on cache domain ${ran[0].domain} (${count(ran.length, 'table')})`);
  return `${what} in ${millis} ms by ${parts.join(', ')}.`;
}

function drawHit(hit) {
  return element('li', {},
    element('strong', {textContent: hit.name === '' ? `row ${hit.id}` : hit.name}), hit.text === '' ? '' : `: ${hit.text} `,
    element('small', {textContent: `(table ${hit.table}, id ${hit.key ?? hit.id}, distance ${Number(hit.distance.toPrecision(6))})`}));
}

/** A vector where it is written as one; else what it is like. */
function queryOf(text) {
  if (!text.trim().startsWith('[')) {
    return {like: text};
  }
  try {
    return {vector: JSON.parse(text)};
  } catch {
    throw new Error(`a vector must be numbers between brackets, [0.1, 0.2], got ${text}`);
  }
}

async function search(event) {
  event.preventDefault();
  const table = byId('table').value;
  try {
    const answer = await ask(table === '' ? 'search' : `tables/${encodeURIComponent(table)}/search`, {
      method: 'POST',
      headers: {'Content-Type': 'application/json'},
      body: JSON.stringify({...queryOf(byId('like').value), k: 10})
    });
    byId('problem').textContent = '';
    byId('ran').textContent = ranInWords(answer) + costInWords(answer);
    byId('hits').replaceChildren(...answer.hits.map(drawHit));
  } catch (problem) {
    byId('problem').textContent = problem.message;
    byId('ran').textContent = '';
    byId('hits').replaceChildren();
  }
}

// The loop.

const charts = {
  steals: chart('chart-steals', ['within a domain', 'across domains'], 0),
  remaps: chart('chart-remaps', ['remaps'], 0),
  queue: chart('chart-queue', ['waiting'], 0),
  latency: chart('chart-latency', ['P50', 'P99'], 2)
};
let before;
let homes;

function showStats(stats, now) {
  const orchestrator = stats.orchestrator;
  const seconds = before === undefined ? 1 : Math.max(.1, (now - before.now) / 1000);
  const stolen = kind => before === undefined
    ? 0 : Math.max(0, orchestrator.tasks[kind] - before.tasks[kind]) / seconds;
  showWorkers(orchestrator.workers);
  showTraffic(orchestrator.domains, seconds);
  showRecalls(orchestrator.tables);
  charts.steals([stolen('intraSteals'), stolen('crossSteals')]);
  charts.remaps([orchestrator.remaps]);
  charts.queue([orchestrator.domains.reduce((sum, domain) => sum + domain.waiting, 0)]);
  charts.latency([stats.service.p50Millis, stats.service.p99Millis]);
  before = {now, tasks: orchestrator.tasks};
}

async function showMapping(epoch) {
  if (homes?.epoch === epoch) {
    return;
  }
  const mapping = await ask('mapping');
  const present = homesOf(mapping);
  showTables(mapping);
  byId('epoch').textContent = `Epoch ${mapping.epoch} is in force.`;
  if (homes !== undefined) {
    tellChanges(mapping.epoch, changesBetween(homes.present, present));
  }
  homes = {epoch: mapping.epoch, present};
}

async function showNames() {
  const [{tables}, {phrases}] = await Promise.all([ask('tables'), ask('phrases')]);
  byId('table').replaceChildren(element('option', {value: '', textContent: 'all tables'}),
    ...tables.map(table => element('option', {value: table.name, textContent: table.name})));
  byId('phrases').replaceChildren(...phrases.map(phrase => element('option', {value: phrase})));
  return tables;
}

let tables;

async function look() {
  try {
    const stats = await ask('stats');
    if (domainViews.size === 0) {
      drawMachine(await ask('topology'), stats);
    }
    showStats(stats, performance.now());
    await showMapping(stats.orchestrator.epoch);
    tables ??= await showNames();
    const rows = tables.reduce((sum, table) => sum + table.rows, 0);
    tell(`${count(tables.length, 'table')} of ${count(rows, 'row')} on ${count(workerViews.size, 'worker')} in `
      + `${count(domainViews.size, 'cache domain')}; imbalance ${stats.orchestrator.imbalance.toFixed(2)}`);
  } catch (problem) {
    tell(`No answer: ${problem.message}`);
  }
  setTimeout(look, EVERY_MS);
}

/** Only what is new is told, so that a screen reader is not kept busy. */
function tell(summary) {
  if (byId('summary').textContent !== summary) {
    byId('summary').textContent = summary;
  }
}

byId('search').addEventListener('submit', search);
byId('like').value = new URLSearchParams(location.search).get('like') ?? '';
look();
