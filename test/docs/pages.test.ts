import assert from 'node:assert/strict'
import { globSync, readFileSync } from 'node:fs'
import path from 'node:path'
import { describe, it } from 'node:test'
import { readDescription } from '../../bin/description.ts'
import { collectMessages } from '../../site/messages.ts'
import {
  explainedMessages,
  listPages,
  listSections,
  llmsText,
  messagesPage,
  siteText,
} from '../../site/pages.ts'
import { linkCalls, makeReference } from '../../site/reference.ts'
import { anchorsOf } from './anchors.ts'

const root = path.join(import.meta.dirname, '../..')
const read = (file: string) => readFileSync(path.join(root, file), 'utf8')

describe('the pages of the documentation', () => {
  it('are all in the menu of the site, except decision records and measurements', () => {
    const listed = new Set(listSections(root).flatMap(({ pages }) => pages.map(({ source }) => source)))
    assert.deepEqual(
      globSync('docs/*.md', { cwd: root }).filter((file) => !listed.has(file)),
      [],
    )
  })

  it('link only to headings that exist', () => {
    const documents = globSync(['*.md', 'docs/**/*.md', 'bench/*.md'], { cwd: root })
    const broken = documents.flatMap((document) =>
      [...read(document).matchAll(/\]\(([^)\s]*)#([^)\s]+)\)/g)]
        .filter(([, file = '']) => !/^[a-z]+:/.test(file) && (file === '' || file.endsWith('.md')))
        .filter(([, file = '', anchor = '']) => {
          const target = file === '' ? document : path.join(path.dirname(document), file)
          return !anchorsOf(read(target)).includes(decodeURIComponent(anchor))
        })
        .map(([link]) => `${document} ${link}`),
    )
    assert.deepEqual(broken, [])
  })

  it('become pages of the site whose links lead to pages of the site', () => {
    const pages = listPages(root)
    const generated = listSections(root).flatMap((section) => section.pages)
    const targets = new Set([...pages, ...generated].map(({ target }) => target))
    const { calls } = makeReference(readDescription())
    for (const page of pages) {
      const text = linkCalls(siteText(page, pages, root), calls)
      for (const [, to = ''] of text.matchAll(/\]\(\.\/([^)#\s]+)/g)) {
        const target = path.posix.join(path.posix.dirname(page.target), to)
        assert.ok(targets.has(target), `${page.source}: ${to}`)
      }
    }
  })

  it('are listed for language models, each with a sentence', () => {
    const lines = llmsText(listPages(root), root).split('\n')
    const rows = lines.filter((line) => line.startsWith('- '))
    assert.ok(rows.length > 20)
    for (const row of rows) assert.match(row, /^- \[[^\]]+\]\(\/[\w/-]+\.md\): .+\.$/)
  })
})

describe('the index of messages', () => {
  const messages = collectMessages(root)
  const texts = new Set(messages.map(({ text }) => text))

  it('has the messages of each kind', () => {
    const wanted = [
      ['start and commands', /^The data folder … is in use by the server/],
      ['start and commands', /^Set … to /],
      ['log', /^nothing can be saved any more; stopping$/],
      ['response', /^Out of quota\.$/],
      ['response', /^Library … not found\.$/],
      ['carrel doctor', /^there has never been a backup$/],
    ] as const
    for (const [kind, pattern] of wanted) {
      const found = messages.filter((message) => message.kind === kind && pattern.test(message.text))
      assert.ok(found.length > 0, `${kind}: ${pattern}`)
    }
    assert.ok(messages.length > 700, String(messages.length))
  })

  it('has every message that troubleshooting.md explains, so a message that changes is noticed', () => {
    const explained = explainedMessages(read('docs/troubleshooting.md'))
    assert.ok(explained.size > 20)
    assert.deepEqual(
      [...explained.keys()].filter((text) => !texts.has(text)),
      [],
    )
    const page = messagesPage(messages, explained)
    for (const anchor of explained.values()) assert.ok(page.includes(`(./troubleshooting.md#${anchor})`))
  })
})
