import assert from 'node:assert/strict'
import { describe, it, mock } from 'node:test'
import { formatsIn } from '../../../web/src/texts/formats.ts'

const english = formatsIn('en-US')
const german = formatsIn('de-DE')
const spaces = (text: string) => text.replace(/[\u00a0\u202f]/g, ' ')

describe('formats', () => {
  it('writes sizes with three digits in decimal units', () => {
    const sizes: [bytes: number, text: string][] = [
      [0, '0 B'],
      [999, '999 B'],
      [1000, '1 KB'],
      [1234, '1.2 KB'],
      [123_456, '123 KB'],
      [1_500_000, '1.5 MB'],
      [20_000_000_000, '20 GB'],
      [5e15, '5 PB'],
      [5e18, '5,000 PB'],
    ]
    for (const [bytes, text] of sizes) assert.equal(english.size(bytes), text)
    assert.equal(german.size(1_500_000), '1,5 MB')
  })

  it('writes times that are left in two units at most', () => {
    assert.deepEqual(
      [5, 200, 3600, 7325].map((seconds) => spaces(english.duration(seconds))),
      ['5 sec', '3 min 20 sec', '1 hr 0 min', '2 hr 2 min'],
    )
  })

  it('writes times relative to now', (t) => {
    mock.timers.enable({ apis: ['Date'], now: Date.parse('2026-11-16T12:00:00Z') })
    t.after(() => mock.timers.reset())
    const at = (text: string) => Date.parse(text) / 1000
    assert.equal(english.ago(at('2026-11-16T11:59:30Z')), 'now')
    assert.equal(english.ago('2026-11-16T11:58:00Z'), '2 minutes ago')
    assert.equal(english.ago('2026-11-15T12:00:00Z'), 'yesterday')
    assert.equal(english.ago('2026-11-01T12:00:00Z'), english.date('2026-11-01T12:00:00Z'))
    assert.equal(english.ago('2018-11-01T12:00:00Z'), english.date('2018-11-01T12:00:00Z'))
    assert.equal(
      english.when('2026-11-16T10:00:00Z'),
      `${english.date('2026-11-16T10:00:00Z')} · 2 hours ago`,
    )
    assert.equal(english.when('2018-11-01T12:00:00Z'), english.date('2018-11-01T12:00:00Z'))
    assert.equal(german.ago('2026-11-16T10:00:00Z'), 'vor 2 Stunden')
  })

  it('reads Unix seconds and ISO texts alike', () => {
    assert.equal(english.date(1_700_000_000), english.date('2023-11-14T22:13:20Z'))
    assert.equal(english.number(1_234_567), '1,234,567')
  })
})
