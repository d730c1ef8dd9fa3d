import { globSync, readFileSync } from 'node:fs'
import path from 'node:path'
import { anchorOf, escapeText, outsideCode } from './markdown.ts'
import type { Message } from './messages.ts'
import { REFERENCE_PAGES } from './reference.ts'

/** A page of the site. */
export interface Page {
  /** The Markdown file, relative to the repository. Empty for a page that the build writes. */
  readonly source: string
  /** The file in the site, such as `quick-start.md`. */
  readonly target: string
  /** In the side menu. */
  readonly title: string
  /** Of a page that the build writes: one sentence. */
  readonly summary?: string
}

interface Section {
  readonly title: string
  readonly isCollapsed?: boolean
  readonly pages: readonly Page[]
}

const doc = (name: string, title: string): Page => ({
  source: `docs/${name}.md`,
  target: `${name}.md`,
  title,
})

/** Pages that the build writes itself. */
export const MESSAGES_PAGE = 'messages.md'

/** The order of the side menu. */
const SECTIONS: readonly Section[] = [
  {
    title: 'Start',
    pages: [
      doc('quick-start', 'Quick start'),
      doc('concepts', 'Concepts'),
      doc('install', 'Install'),
      doc('migration', 'Moving from Seafile'),
    ],
  },
  {
    title: 'Users',
    pages: [doc('guide-users', 'Guide'), doc('client', 'Command line'), doc('webdav', 'WebDAV')],
  },
  {
    title: 'Operators',
    pages: [
      doc('guide-operators', 'Guide'),
      doc('operation', 'Operation'),
      doc('settings', 'Settings'),
      doc('limits', 'Limits'),
      doc('storage', 'Storage'),
      doc('backup', 'Backup and restore'),
      doc('checking', 'Checking and repair'),
      doc('monitoring', 'Monitoring'),
      doc('accounts', 'Accounts and mail'),
      doc('https', 'HTTPS and proxies'),
      doc('scaling', 'Several servers'),
      doc('troubleshooting', 'Troubleshooting'),
      {
        source: '',
        target: MESSAGES_PAGE,
        title: 'All messages',
        summary: 'Every message that the server can print or send.',
      },
      doc('fail2ban', 'fail2ban'),
    ],
  },
  {
    title: 'Developers',
    pages: [
      doc('guide-developers', 'Guide'),
      doc('endpoints', 'All calls'),
      doc('permissions', 'Permissions'),
      doc('compatibility', 'Compatibility'),
      doc('statements', 'Statements'),
      doc('events', 'Events and webhooks'),
      doc('mcp', 'Tools for models'),
    ],
  },
  {
    title: 'API reference',
    isCollapsed: true,
    pages: REFERENCE_PAGES.map((page) => ({ source: '', ...page })),
  },
  {
    title: 'Trust',
    pages: [
      doc('security', 'Security'),
      { source: 'SECURITY.md', target: 'reporting.md', title: 'Report a vulnerability' },
      doc('reliability', 'Reliability'),
      { source: 'bench/README.md', target: 'bench/index.md', title: 'Benchmarks' },
    ],
  },
  {
    title: 'Carrel itself',
    pages: [
      { source: 'CONTRIBUTING.md', target: 'contributing.md', title: 'Contributing' },
      doc('architecture', 'Architecture'),
      doc('data-model', 'Data model'),
      doc('glossary', 'Glossary'),
      doc('testing', 'Testing'),
      doc('translating', 'Translating'),
      doc('releasing', 'Releasing'),
      { source: 'docs/decisions/README.md', target: 'decisions/index.md', title: 'Decisions' },
      { source: 'CHANGELOG.md', target: 'changelog.md', title: 'Changelog' },
    ],
  },
]

/** The side menu. Pages without a place in it are at its end. Decision records are found through their list. */
export function listSections(root: string): Section[] {
  const known = new Set(SECTIONS.flatMap(({ pages }) => pages).map(({ source }) => source))
  const others = globSync('docs/*.md', { cwd: root })
    .sort()
    .filter((source) => !known.has(source))
    .map((source) =>
      doc(path.basename(source, '.md'), titleOf(readFileSync(path.join(root, source), 'utf8'))),
    )
  return others.length === 0 ? [...SECTIONS] : [...SECTIONS, { title: 'More', pages: others }]
}

function titleOf(text: string): string {
  return /^# (.+)$/m.exec(text)?.[1]?.replaceAll('`', '') ?? ''
}

/** All pages with a source, also those that are not in the menu. */
export function listPages(root: string): Page[] {
  const sections = listSections(root)
  const menu = sections.flatMap(({ pages }) => pages).filter(({ source }) => source !== '')
  const known = new Set(menu.map(({ source }) => source))
  const others = globSync(['docs/**/*.md', 'bench/*.md', 'bench/results/*.md'], { cwd: root })
    .sort()
    .filter((source) => !known.has(source))
    .map((source) => ({ source, target: source.replace(/^docs\//, ''), title: '' }))
  return [...menu, ...others]
}

/** The text of a page, with links to where the files are in the site. */
export function siteText(page: Page, pages: readonly Page[], root: string): string {
  const targets = new Map(pages.map(({ source, target }) => [source, target]))
  // Languages that the site cannot highlight.
  const text = readFileSync(path.join(root, page.source), 'utf8').replace(
    /^```(?:arrows|arrows-web|haproxy)$/gm,
    '```txt',
  )
  return outsideCode(text, (prose) =>
    prose
      .replace(
        /(!?)\[((?:[^[\]]|\[[^\]]*\])*)\]\(([^)\s]+)\)/g,
        (link, mark: string, label: string, to: string) => {
          if (/^[a-z]+:|^#/.test(to)) return link
          const [file = '', anchor] = to.split('#')
          const source = path.posix.join(path.posix.dirname(page.source), file)
          const target = targets.get(source) ?? targets.get(path.posix.join(source, 'README.md'))
          if (target !== undefined) {
            const relative = path.posix.relative(path.posix.dirname(page.target), target)
            return `${mark}[${label}](./${relative}${anchor === undefined ? '' : `#${anchor}`})`
          }
          const asset = assetOf(source)
          // Source files are not part of the site.
          return asset === undefined ? label : `${mark}[${label}](/${asset})`
        },
      )
      // Two braces are an expression in the templates of the site.
      .replaceAll('{{', '&#123;&#123;'),
  )
}

/** Files beside the pages that are published as they are. Undefined for others. */
export function assetOf(source: string): string | undefined {
  return /^docs\/.*\.(?:svg|png|yml)$|^bench\/results\/.*\.(?:svg|json)$/.test(source)
    ? source.replace(/^docs\//, '')
    : undefined
}

const KINDS = [
  ['start and commands', 'At the start and from commands'],
  ['carrel doctor', 'From carrel doctor'],
  ['log', 'In the log'],
  ['response', 'In responses'],
] as const

/** The index of all messages. Those that troubleshooting.md explains are links. */
export function messagesPage(messages: readonly Message[], explained: ReadonlyMap<string, string>): string {
  const parts = KINDS.map(([kind, title]) => {
    const rows = messages
      .filter((message) => message.kind === kind)
      .map(({ text, file }) => {
        const anchor = explained.get(text)
        const shown = escapeText(text)
        const cell = anchor === undefined ? shown : `[${shown}](./troubleshooting.md#${anchor})`
        return `| ${cell} | ${path.posix.dirname(file)} |`
      })
    return `## ${title}\n\n| Message | Module |\n| --- | --- |\n${rows.join('\n')}\n`
  })
  return `# All messages\n\nEvery message that the server can print or send, made from its sources. "…" is filled in at run time. Linked messages are explained in [Troubleshooting](./troubleshooting.md).\n\n${parts.join('\n')}`
}

/** The messages that troubleshooting.md explains, with the anchors of their headings. */
export function explainedMessages(page: string): Map<string, string> {
  return new Map([...page.matchAll(/^### (.+)$/gm)].map(([, heading = '']) => [heading, anchorOf(heading)]))
}

/** A list of all pages for language models: https://llmstxt.org. */
export function llmsText(pages: readonly Page[], root: string): string {
  const lines = listSections(root).map(({ title, pages: listed }) => {
    const rows = listed
      .filter(({ source, summary }) => summary !== undefined || pages.some((page) => page.source === source))
      .map(
        ({ source, target, title: name, summary = firstSentence(source, root) }) =>
          `- [${name}](/${target}): ${summary}`,
      )
    return `## ${title}\n\n${rows.join('\n')}\n`
  })
  return `# Carrel\n\n> A self-hosted file library server: versioned libraries, the File Library Web API, one process.\n\nEvery page is also served as Markdown under the addresses below.\n\n${lines.join('\n')}`
}

function firstSentence(source: string, root: string): string {
  const text = readFileSync(path.join(root, source), 'utf8')
  const paragraph =
    text
      .split(/\n\n+/)
      .map((part) => part.trim())
      .find((part) => /^[A-Z`*[]/.test(part) && !part.startsWith('```')) ?? ''
  const plain = paragraph.replaceAll('\n', ' ').replace(/\[([^\]]*)\]\([^)]*\)/g, '$1')
  return /^.*?[.:](?= |$)/.exec(plain)?.[0].replace(/:$/, '.') ?? plain
}
