import './browser-globals.ts'
import assert from 'node:assert/strict'
import { beforeEach, describe, it } from 'node:test'
import limits from '../../../web/src/offline-limits.json' with { type: 'json' }
import { decodeText, encodeText, type TextContent } from '../../../web/src/text-content.ts'
import {
  clearDrafts,
  type Draft,
  deleteDraft,
  findDraft,
  hasWantedDrafts,
  listDrafts,
  saveDraft,
} from '../../../web/src/viewer/drafts.ts'

describe('drafts', () => {
  const draft: Draft = {
    id: 'a',
    text: 'new',
    form: { charset: 'utf-8', hasMark: false, lineBreak: '\n' },
    isSaveWanted: false,
  }
  const at = (path: string, account = 'me@x', libraryId = 'L') => ({ account, libraryId, path })
  const pathsOf = (account = 'me@x') => listDrafts(account).map(({ path }) => path)
  const textAt = (path: string) => findDraft(at(path))?.text

  beforeEach(clearDrafts)

  it('are found by account, library and path', () => {
    assert.equal(saveDraft(at('/a.txt'), draft), true)
    assert.equal(textAt('/a.txt'), 'new')
    assert.equal(findDraft(at('/a.txt'))?.id, 'a')
    assert.equal(textAt('/b.txt'), undefined)
    assert.equal(findDraft(at('/a.txt', 'me@x', 'M')), undefined)
    assert.equal(findDraft(at('/a.txt', 'other@x')), undefined)
    assert.equal(findDraft(undefined), undefined)
    assert.deepEqual([pathsOf(), pathsOf('other@x')], [['/a.txt'], []])
  })

  it('are replaced by newer ones and deleted once saved', () => {
    saveDraft(at('/a\nb.txt'), draft)
    saveDraft(at('/a\nb.txt'), { ...draft, text: 'newer' })
    assert.equal(textAt('/a\nb.txt'), 'newer')
    assert.deepEqual(pathsOf(), ['/a\nb.txt'])
    deleteDraft(at('/a\nb.txt'))
    assert.equal(textAt('/a\nb.txt'), undefined)
    assert.equal(localStorage.length, 0)
  })

  it('are all gone after sign-out', () => {
    localStorage.setItem('carrel.other', 'stays')
    saveDraft(at('/a.txt'), draft)
    saveDraft(at('/b.txt', 'me@x', 'M'), draft, { mayStore: false })
    clearDrafts()
    assert.deepEqual([textAt('/a.txt'), findDraft(at('/b.txt', 'me@x', 'M'))], [undefined, undefined])
    assert.equal(localStorage.length, 1)
    localStorage.removeItem('carrel.other')
  })

  it('stay in the memory of the page if the device may not have them', () => {
    saveDraft(at('/a.txt'), draft)
    assert.equal(saveDraft(at('/a.txt'), { ...draft, text: 'secret' }, { mayStore: false }), false)
    assert.equal(textAt('/a.txt'), 'secret')
    assert.equal(localStorage.length, 0)
  })

  it('stay in memory if they are too large, and an older text is not left on the device', () => {
    saveDraft(at('/a.txt'), draft)
    const text = 'x'.repeat(limits.draftBytes / 2)
    assert.equal(saveDraft(at('/a.txt'), { ...draft, text }), false)
    assert.equal(textAt('/a.txt'), text)
    assert.equal(localStorage.length, 0)
  })

  it('are evicted by number, the oldest first', () => {
    const count = limits.drafts + 2
    for (let now = 1; now <= count; now += 1) saveDraft(at(`/${now}`), draft, { now })
    const paths = pathsOf()
    assert.deepEqual([paths.length, paths[0], paths.at(-1)], [limits.drafts, `/${count}`, '/3'])
    // Typing again in one evicts none.
    saveDraft(at('/3'), draft, { now: count + 1 })
    assert.deepEqual([pathsOf().length, pathsOf()[0]], [limits.drafts, '/3'])
  })

  it('are evicted by size, the oldest first', () => {
    const text = 'x'.repeat(limits.allDraftsBytes / 2 / 3)
    for (let now = 1; now <= 4; now += 1) saveDraft(at(`/${now}`), { ...draft, text }, { now })
    assert.deepEqual(pathsOf(), ['/4', '/3'])
    const bytes = listDrafts('me@x').reduce((sum, one) => sum + one.bytes, 0)
    assert.ok(bytes > 2 * text.length && bytes <= limits.allDraftsBytes, String(bytes))
  })

  it('say whether one waits for the server, and ignore what they cannot read', () => {
    saveDraft(at('/a.txt'), draft)
    localStorage.setItem('carrel.draft\nme@x\nL\n/broken.txt', '{"text":')
    localStorage.setItem('carrel.draft\nme@x\nL\n/older.txt', '{"text":"no id"}')
    assert.equal(hasWantedDrafts(), false)
    assert.deepEqual([textAt('/broken.txt'), textAt('/older.txt')], [undefined, undefined])
    saveDraft(at('/a.txt'), { ...draft, isSaveWanted: true })
    assert.equal(hasWantedDrafts(), true)
  })
})

describe('the content of a text file', () => {
  const utf8 = (text: string) => new TextEncoder().encode(text)
  const decode = (bytes: Uint8Array, isWhole = true) => {
    const content = decodeText(bytes, isWhole)
    assert.ok(content)
    return content
  }
  const bytesOf = async (text: string, content: TextContent) =>
    new Uint8Array(await encodeText(text, content).arrayBuffer())

  it('is saved byte by byte as it was read', async () => {
    for (const text of ['', 'a', 'ä\nö\n', 'a\r\nb\r\n', '\ufeffa\nb', '\ufeffa\r\nb\r\n', '😀']) {
      const content = decode(utf8(text))
      assert.equal(content.charset, 'utf-8')
      assert.deepEqual(await bytesOf(content.text, content), utf8(text), JSON.stringify(text))
    }
  })

  it('has line feeds only while it is edited', () => {
    const { text, lineBreak } = decode(utf8('a\r\nb\r\nc\n'))
    assert.deepEqual([text, lineBreak], ['a\nb\nc\n', '\r\n'])
    assert.equal(decode(utf8('a\r\nb\nc\n')).lineBreak, '\n')
  })

  it('is read as UTF-16 by its byte order mark, and saved as UTF-8', async () => {
    const little = Uint8Array.from([0xff, 0xfe, 0x61, 0x00, 0x0a, 0x00])
    const big = Uint8Array.from([0xfe, 0xff, 0x00, 0x61, 0x00, 0x0a])
    for (const bytes of [little, big]) {
      const content = decode(bytes)
      assert.deepEqual([content.text, content.charset], ['a\n', 'utf-16'])
      assert.deepEqual(await bytesOf(content.text, content), utf8('a\n'))
    }
  })

  it('is read as Latin-1 if it is not UTF-8', () => {
    const { text, charset } = decode(Uint8Array.from([0x63, 0x61, 0x66, 0xe9]))
    assert.deepEqual([text, charset], ['café', 'latin-1'])
  })

  it('may end within a character if only the beginning was loaded', () => {
    const cut = utf8('aä').subarray(0, 2)
    assert.equal(decode(cut, false).text, 'a')
    assert.equal(decode(cut, false).charset, 'utf-8')
    assert.equal(decode(cut, true).charset, 'latin-1')
  })

  it('is no text if a NUL byte is near its start', () => {
    assert.equal(decodeText(Uint8Array.from([0x25, 0x50, 0x00, 0x44]), true), undefined)
  })
})
