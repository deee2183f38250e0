/** The script of a report that has a flame graph: draws it from the data in the page. */
import type { FlameDocument } from '../../analyze/host-code/flame-document.js';
import { FlameGraph } from './flame-graph.js';
import './flame.css';

const data = document.getElementById('flame-data');
const place = document.querySelector('[data-flame]');
if (data && place) place.append(new FlameGraph(JSON.parse(data.textContent!) as FlameDocument).root);
