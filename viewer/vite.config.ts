// Builds the page as one file, dist/viewer.html: script and style stand inside, so that it opens from disk without a server.
import { defineConfig, type Plugin } from 'vite';

const MARKER = '<!--liedyn-scene-->';

function inline(): Plugin {
  return {
    name: 'liedyn-inline',
    enforce: 'post',
    generateBundle(_options, bundle) {
      const page = bundle['index.html'];
      if (!page || page.type !== 'asset') throw new Error('index.html was not built');
      let html = String(page.source);
      for (const [file, item] of Object.entries(bundle)) {
        if (item.type === 'chunk') {
          // A replacement function: `$&` in the code must stay as it is. No `</script` or marker may occur inside.
          const code = item.code.replace(/<\/(script)/gi, '<\\/$1').replaceAll(MARKER, '<!--' + '\\x6ciedyn-scene-->');
          html = html.replace(/<script[^>]*src="[^"]*"[^>]*><\/script>/, () => '');
          html = html.replace('</body>', () => `<script type="module">${code}</script>\n</body>`);
          delete bundle[file];
        } else if (file.endsWith('.css')) {
          html = html.replace(/<link[^>]*rel="stylesheet"[^>]*>/, () => `<style>${item.source}</style>`);
          delete bundle[file];
        }
      }
      if (html.split(MARKER).length !== 2) throw new Error(`the page must contain ${MARKER} exactly once`);
      page.source = html;
      page.fileName = 'viewer.html';
    },
  };
}

export default defineConfig({
  base: './',
  plugins: [inline()],
  build: {
    target: 'es2022',
    modulePreload: false,
    cssCodeSplit: false,
    assetsInlineLimit: 1e8,
    reportCompressedSize: false,
    rollupOptions: { output: { inlineDynamicImports: true } },
  },
});
