// Builds two pages, each as one file: dist/viewer.html (index.html) and, with --mode study, dist/study.html. Script and style stand inside, so that they open from disk without a server.
import { defineConfig, type Plugin } from 'vite';

const PAGES = {
  viewer: { source: 'index.html', marker: '<!--liedyn-scene-->' },
  study: { source: 'study.html', marker: '<!--liedyn-study-->' },
};

// Stands at the start of the page, which has no other text: a browser does not run a script that is cut off, and would show nothing.
const GUARD = `addEventListener('DOMContentLoaded', function () {
  if (window.liedyn || window.liedynStudy || document.getElementById('complete')) return;
  var box = document.createElement('div');
  box.id = 'incomplete';
  box.setAttribute('role', 'alert');
  box.style.cssText = 'position: fixed; inset: 0; z-index: 99; padding: 15vh 24px; background: #fff; color: #1d2530; font: 16px/1.5 sans-serif; text-align: center';
  var title = box.appendChild(document.createElement('h2'));
  title.textContent = 'This file is incomplete';
  box.appendChild(document.createElement('p')).textContent = 'Its end is missing: perhaps a download stopped early, or a disk was full. Get the file again, or write it again with liedyn.';
  document.body.appendChild(box);
});`;

function inline(name: keyof typeof PAGES): Plugin {
  const { source, marker } = PAGES[name];
  return {
    name: 'liedyn-inline',
    enforce: 'post',
    generateBundle(_options, bundle) {
      const page = bundle[source];
      if (!page || page.type !== 'asset') throw new Error(`${source} was not built`);
      let html = String(page.source);
      for (const [file, item] of Object.entries(bundle)) {
        if (item.type === 'chunk') {
          // A replacement function: `$&` in the code must stay as it is. No `</script` or marker may occur inside.
          const code = item.code.replace(/<\/(script)/gi, '<\\/$1').replace(/<!--(liedyn-\w+-->)/g, '<\\!--$1');
          html = html.replace(/<script[^>]*src="[^"]*"[^>]*><\/script>/, () => '');
          html = html.replace('</body>', () => `<script type="module">${code}</script>\n<i id="complete" hidden></i>\n</body>`);
          delete bundle[file];
        } else if (file.endsWith('.css')) {
          html = html.replace(/<link[^>]*rel="stylesheet"[^>]*>/, () => `<style>${item.source}</style>`);
          delete bundle[file];
        }
      }
      html = html.replace('<meta charset="utf-8">', (first) => `${first}\n<script>${GUARD}</script>`);
      if (!html.includes(GUARD)) throw new Error(`${source} must begin with <meta charset="utf-8">`);
      if (html.split(marker).length !== 2) throw new Error(`the page must contain ${marker} exactly once`);
      page.source = html;
      page.fileName = `${name}.html`;
    },
  };
}

export default defineConfig(({ mode }) => {
  const name = mode === 'study' ? 'study' : 'viewer';
  return {
    base: './',
    plugins: [inline(name)],
    build: {
      target: 'es2022',
      modulePreload: false,
      cssCodeSplit: false,
      assetsInlineLimit: 1e8,
      reportCompressedSize: false,
      emptyOutDir: name === 'viewer',
      rollupOptions: { input: PAGES[name].source, output: { inlineDynamicImports: true } },
    },
  };
});
