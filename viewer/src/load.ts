// Where scenes come from: elements of the page, ?scene=URL, dropped files.
import { SceneError } from './error';
import { readScene, type Scene } from './scene';

export async function scenesOfPage(): Promise<Scene[]> {
  const scenes: Scene[] = [];
  for (const id of ['liedyn-scene', 'liedyn-scene-2']) {
    const element = document.getElementById(id);
    if (element) scenes.push(await readScene(element.textContent ?? ''));
  }
  if (scenes.length > 0) return scenes;
  for (const url of new URLSearchParams(location.search).getAll('scene').slice(0, 2)) scenes.push(await fetchScene(url));
  return scenes;
}

export async function fetchScene(url: string): Promise<Scene> {
  let response: Response;
  try {
    response = await fetch(url);
  } catch {
    throw new SceneError(`The scene at ${url} cannot be reached`, 'Is the server running? Pages opened from disk cannot read other files: drop the file here instead.');
  }
  if (!response.ok) throw new SceneError(`The scene at ${url} cannot be read: status ${response.status}`, 'Check the address.');
  return readScene(await response.text());
}

// A scene file, or a page with a scene inside.
export async function sceneOfFile(file: File): Promise<Scene> {
  const text = await file.text();
  if (!text.trimStart().startsWith('<')) return readScene(text);
  const element = new DOMParser().parseFromString(text, 'text/html').getElementById('liedyn-scene');
  if (!element) throw new SceneError(`${file.name} contains no scene`, 'Expected a page written by liedyn run MODEL --html.');
  return readScene(element.textContent ?? '');
}
