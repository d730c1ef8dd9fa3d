import assert from 'node:assert/strict'
import { describe, it, type TestContext } from 'node:test'
import { Workspace } from '../api/folders-support.ts'
import { eventually, storedBytes, uploadFile } from '../support/transfer.ts'
import { PHONE, webSuite } from './support.ts'
import { makePicture, write } from './viewer-support.ts'

describe('Markdown', () => {
  const suite = webSuite()

  async function start(t: TestContext, path: string, text: string, others: Record<string, Buffer> = {}) {
    const space = await Workspace.make(suite.server)
    for (const [at, bytes] of Object.entries(others)) await uploadFile(space.client, space.id, at, bytes)
    await uploadFile(space.client, space.id, path, text)
    const tab = await suite.openTab(t, space.client)
    await tab?.go(`/view/${space.id}?p=${encodeURIComponent(path)}`)
    const stored = async () => (await storedBytes(suite.server, space.id, path)).toString()
    return { space, tab, stored }
  }

  it('is previewed beside the editor, and on a phone behind it', async (t) => {
    const { space, tab, stored } = await start(t, '/docs/readme.md', MARKDOWN, {
      '/docs/picture.jpg': await makePicture('#3c78b4', 300, 120),
    })
    if (tab === undefined) return
    const { page } = tab
    await page.getByRole('img', { name: 'a picture of the same library' }).waitFor()
    await page.getByRole('heading', { name: 'Title' }).waitFor()
    await tab.picture('markdown')
    await page.getByRole('button', { name: 'Edit' }).click()
    await write(page, '# Above all\n\n')
    await page.getByRole('heading', { name: 'Above all' }).waitFor()
    await tab.checkAccess()
    await tab.picture('markdown-editor')
    await page.keyboard.press('Control+s')
    await eventually(async () => assert.match(await stored(), /^# Above all/))
    // The page knows it later than the server. Until then it asks whether to discard the changes.
    await page.getByText('Unsaved changes').waitFor({ state: 'hidden' })
    await page.getByRole('button', { name: 'Stop editing' }).click()
    await uploadFile(space.client, space.id, '/other.md', 'the other file')
    await page.getByRole('link', { name: 'the other' }).click()
    await page.getByText('the other file').waitFor()
    assert.deepEqual(tab.complaints, [])

    const phone = await suite.openTab(t, space.client, { ...PHONE, colorScheme: 'dark' })
    await phone?.go(`/view/${space.id}?p=/docs/readme.md`)
    await phone?.page.getByRole('heading', { name: 'Title' }).waitFor()
    await phone?.picture('markdown-phone-dark')
    await phone?.page.getByRole('button', { name: 'Edit' }).click()
    await phone?.page.getByRole('textbox', { name: 'Editor: readme.md' }).waitFor()
    await phone?.picture('markdown-editor-phone-dark')
    await phone?.checkAccess()
    await phone?.page.getByRole('tab', { name: 'Preview' }).click()
    await phone?.page.getByRole('heading', { name: 'Title' }).waitFor()
    assert.deepEqual(phone?.complaints, [])
  })

  it('executes none of its content', async (t) => {
    const { tab } = await start(t, '/evil.md', HOSTILE.join('\n\n'))
    if (tab === undefined) return
    const { page } = tab
    await page.getByText('the end of it').waitFor()
    const found = await page.evaluate(`(() => {
      const root = document.querySelector('.markdown')
      const all = [...root.querySelectorAll('*')]
      return {
        elements: all.map((one) => one.localName).filter((name) => /script|iframe|object|embed|style|form|svg|math|base|link|meta|input/.test(name)).filter((name) => name !== 'svg'),
        handlers: all.flatMap((one) => one.getAttributeNames()).filter((name) => name.startsWith('on')),
        links: all.map((one) => one.getAttribute('href') ?? one.getAttribute('src') ?? '').filter((link) => link !== ''),
        rels: [...root.querySelectorAll('a[target]')].map((one) => one.rel),
        hacked: globalThis.hacked,
      }
    })()`)
    const { elements, handlers, links, rels, hacked } = found as Record<string, string[]>
    assert.deepEqual([elements, handlers, hacked], [[], [], undefined])
    for (const link of links ?? []) assert.match(link, /^(?:https?:|mailto:|\/app\/|http:\/\/127)/)
    for (const rel of rels ?? []) assert.match(rel, /noopener/)
    assert.ok(await page.getByText('<script>globalThis.hacked = 1</script>').isVisible())
    assert.deepEqual(tab.complaints, [])
  })
})

const MARKDOWN = `# Title

A paragraph with **strong**, *emphasis*, ~~gone~~, \`code\` &amp; a [link](https://example.org/a?b=c) and [the other](../other.md).

- [x] done
- [ ] to do
  1. nested

| Left | Right |
| :--- | ---: |
| a | 1 |

> Quoted text

\`\`\`js
const a = '<b>'
\`\`\`

![a picture of the same library](./picture.jpg)
`

const HOSTILE = [
  '<script>globalThis.hacked = 1</script>',
  '<img src=x onerror="globalThis.hacked=2">',
  'inline <b onclick="globalThis.hacked=3">html</b> and <svg/onload=globalThis.hacked=4>',
  '[a](javascript:globalThis.hacked=5)',
  '[b](JaVaScRiPt:globalThis.hacked=6) [c](java\tscript:globalThis.hacked=7)',
  '[d](&#106;avascript:globalThis.hacked=8) [e](javascript&colon;globalThis.hacked=9)',
  '[f](data:text/html,<script>globalThis.hacked=10</script>) [g](vbscript:x) [h](file:///etc/passwd)',
  '![i](javascript:globalThis.hacked=11) ![j](data:image/svg+xml,<svg/onload=1>)',
  '[k](//evil.example/x) [l](https://example.org/"onmouseover="globalThis.hacked=12)',
  '<javascript:globalThis.hacked=13> <https://example.org>',
  '[m]: javascript:globalThis.hacked=14\n\n[m]',
  '![alt"onerror="globalThis.hacked=15](x.png "title\\"onerror=")',
  '`<script>globalThis.hacked=16</script>`',
  '&lt;script&gt;globalThis.hacked=17&lt;/script&gt;',
  '# <img src=x onerror=globalThis.hacked=18>',
  '| <script>globalThis.hacked=19</script> |\n| --- |\n| <iframe srcdoc="<script>parent.hacked=20</script>"> |',
  `${'> '.repeat(3000)}deep`,
  `${'['.repeat(2000)}${']'.repeat(2000)}`,
  '<form action=/x><input name=q></form>',
  'the end of it',
]
