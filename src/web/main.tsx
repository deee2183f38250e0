/** The page of `stepscope view`. */
import { render } from 'preact';
import { App } from './app.js';

render(<App />, document.getElementById('app')!);
