import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { decodeText, encodeText, type TextContent } from '../../../web/src/text-content.ts'
import { clearDrafts, deleteDraft, findDraft, saveDraft } from '../../../web/src/viewer/drafts.ts'

describe('drafts', () => {
  const draft = { id: 'a', baseline: 'old', text: 'new' }

  it('are found by library and path', () => {
    saveDraft('me@x', 'L', '/a.txt', draft)
    assert.equal(findDraft('me@x', 'L', '/a.txt'), draft)
    assert.equal(findDraft('me@x', 'L', '/b.txt'), undefined)
    assert.equal(findDraft('me@x', 'M', '/a.txt'), undefined)
    assert.equal(findDraft('other@x', 'L', '/a.txt'), undefined)
    assert.equal(findDraft(undefined, 'L', '/a.txt'), undefined)
  })

  it('are replaced by newer ones and deleted once saved', () => {
    saveDraft('me@x', 'L', '/a.txt', draft)
    saveDraft('me@x', 'L', '/a.txt', { ...draft, text: 'newer' })
    assert.equal(findDraft('me@x', 'L', '/a.txt')?.text, 'newer')
    deleteDraft('me@x', 'L', '/a.txt')
    assert.equal(findDraft('me@x', 'L', '/a.txt'), undefined)
  })

  it('are all gone after sign-out', () => {
    saveDraft('me@x', 'L', '/a.txt', draft)
    saveDraft('me@x', 'M', '/b.txt', draft)
    clearDrafts()
    assert.deepEqual(
      [findDraft('me@x', 'L', '/a.txt'), findDraft('me@x', 'M', '/b.txt')],
      [undefined, undefined],
    )
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
