import path from 'node:path'
import { defineConfig } from 'vitepress'
import { anchorOf } from '../../markdown.ts'
import { listSections } from '../../pages.ts'

const root = path.join(import.meta.dirname, '../../..')

export default defineConfig({
  title: 'Carrel',
  description: 'A self-hosted file library server',
  lang: 'en',
  head: [['link', { rel: 'icon', href: '/icon.svg', type: 'image/svg+xml' }]],
  // The Markdown of the pages, which is published beside them.
  srcExclude: ['public/**'],
  // Text such as <address> is text, and no element.
  markdown: {
    html: false,
    anchor: { slugify: anchorOf },
  },
  // The index for the local search is one file.
  vite: { build: { chunkSizeWarningLimit: 4000 } },
  themeConfig: {
    logo: '/icon.svg',
    nav: [
      { text: 'Quick start', link: '/quick-start' },
      { text: 'Operators', link: '/guide-operators' },
      { text: 'Developers', link: '/guide-developers' },
      { text: 'API', link: '/api/' },
      { text: 'Troubleshooting', link: '/troubleshooting' },
    ],
    sidebar: listSections(root).map(({ title, isCollapsed = false, pages }) => ({
      text: title,
      collapsed: isCollapsed,
      items: pages.map((page) => ({
        text: page.title,
        link: `/${page.target.replace(/(index)?\.md$/, '')}`,
      })),
    })),
    outline: [2, 3],
    search: { provider: 'local' },
  },
})
