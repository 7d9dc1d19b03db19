import './style.css';
import { App } from './app';
import { SceneError } from './error';
import { readScene } from './scene';

// For tests and for notebooks: `await liedyn.ready`, then `liedyn.app`.
interface Handle {
  app: App;
  ready: Promise<void>;
  readScene: typeof readScene;
  vertices: (name: string) => number[];
}
declare global {
  interface Window {
    liedyn?: Handle;
  }
}

const root = document.getElementById('app')!;
try {
  const app = new App(root);
  window.liedyn = { app, ready: app.start(), readScene, vertices: (name) => app.view!.vertices(name, app.stage.renderer) };
} catch (error) {
  // Without 3D there is no page to show the message in.
  const text = document.createElement('p');
  text.className = 'fatal';
  text.textContent = error instanceof SceneError ? `${error.message}. ${error.hint}` : `The page cannot start: ${String(error)}`;
  root.replaceChildren(text);
}
