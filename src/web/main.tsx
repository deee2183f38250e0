/** The page of `stepscope view`. */
import { render } from 'preact';
import { start } from './address-sync.js';
import { App } from './app.js';
import { followEvents } from './event-details.js';
import { followNotes } from './notes.js';
import { listenForKeys } from './page-keys.js';
import { followWaits } from './ranks/waits.js';
import { followQuery } from './search/search.js';
import { fail } from './session.js';
import { attachTravelKeys } from './timeline/travel-keys.js';

render(<App />, document.getElementById('app')!);
listenForKeys();
attachTravelKeys();
followEvents();
followQuery();
followNotes();
followWaits();
start().catch(error => fail('', error));
