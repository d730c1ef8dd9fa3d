import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { contentOf } from '../../packages/mcp/file-range.ts'
import { partOf, safeJson } from '../../packages/mcp/output.ts'

describe('results of tools', () => {
  it('show hidden characters as escapes, and lose none', () => {
    const hostile = {
      name: 'a\u{202e}gpj.exe\u{200b}\u{feff}\u{2028}\u{7f}\u{1b}[2J\n',
      tags: '\u{e0041}\u{e0042}\u{fe0f}\u{e0101}',
      lone: '\ud800',
      plain: 'Zürich 東京 😀 "quoted"',
    }
    const json = safeJson(hostile)
    assert.match(json, /^[^\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}\u{fe0f}\u{e0101}]*$/u)
    assert.ok(json.includes('Zürich 東京 😀'))
    assert.deepEqual(JSON.parse(json), hostile)
  })

  it('are cut at a size, and say where they continue', async () => {
    const names = Array.from({ length: 1000 }, (_, at) => ({ path: `/${at}-${'x'.repeat(200)}` }))
    const all: unknown[] = []
    let calls = 0
    for (let next: number | undefined = 0; next !== undefined; calls += 1) {
      const part: Awaited<ReturnType<typeof partOf>> = await partOf(
        names,
        { offset: next, limit: 1000 },
        (name) => name,
      )
      assert.ok(safeJson(part).length < 70_000)
      all.push(...part.items)
      next = part.next_offset
    }
    assert.deepEqual(all, names)
    assert.ok(calls > 3)
  })

  it('have at least one item, even if it is too large', async () => {
    const part = await partOf(['x'.repeat(100_000), 'y'], { limit: 10 }, (text) => text)
    assert.deepEqual([part.items.length, part.next_offset], [1, 1])
  })

  it('decode every way to cut a text', () => {
    const text = 'aé€😀z'
    const bytes = Buffer.from(text)
    for (let start = 0; start < bytes.length; start += 1) {
      for (let end = start + 4; end <= bytes.length; end += 1) {
        const ends = { isStart: start === 0, isEnd: end === bytes.length }
        const { encoding, content, skipped, left } = contentOf(bytes.subarray(start, end), ends)
        assert.equal(encoding, 'text', `${start}-${end}`)
        assert.equal(content, bytes.subarray(start + skipped, end - left).toString())
        assert.ok(text.includes(content))
      }
    }
    assert.equal(contentOf(Buffer.from([0xc3]), { isStart: true, isEnd: true }).encoding, 'base64')
    assert.equal(contentOf(Buffer.from('a\0b'), { isStart: true, isEnd: true }).encoding, 'base64')
  })
})
