import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import {
  addDays,
  addMonths,
  firstDayOfWeek,
  formatTyped,
  parseTyped,
  weeksOf,
} from '../../../web/src/ui/calendar-dates.ts'

describe('the dates of a calendar', () => {
  it('move by days and months across years and short months', () => {
    assert.equal(addDays('2026-12-31', 1), '2027-01-01')
    assert.equal(addDays('2024-03-01', -1), '2024-02-29')
    assert.equal(addMonths('2026-01-31', 1), '2026-02-28')
    assert.equal(addMonths('2026-01-15', -1), '2025-12-15')
    assert.equal(addMonths('2024-02-29', 12), '2025-02-28')
  })

  it('are in weeks that begin on the day of the locale', () => {
    assert.deepEqual([firstDayOfWeek('en-US'), firstDayOfWeek('de-DE')], [7, 1])
    const monday = weeksOf('2026-11-16', 1)
    assert.deepEqual(monday[0], [...Array.from({ length: 6 }, () => undefined), '2026-11-01'])
    assert.equal(monday.length, 6)
    assert.equal(monday.at(-1)?.[0], '2026-11-30')
    const sunday = weeksOf('2026-11-16', 7)
    assert.deepEqual([sunday.length, sunday[0]?.[0], sunday.at(-1)?.[1]], [5, '2026-11-01', '2026-11-30'])
    assert.equal(weeksOf('2026-02-01', 7).length, 4)
  })

  it('are written and read as the locale writes them, and in ISO order everywhere', () => {
    const locales = ['en-US', 'en-GB', 'de', 'zh', 'ja', 'cs', 'nl', 'pt-BR', 'uk', 'ar', 'ar-EG', 'ar-MA']
    for (const locale of locales) {
      assert.equal(parseTyped(formatTyped('2026-03-09', locale), locale), '2026-03-09', locale)
      assert.equal(parseTyped(' 2026-03-09 ', locale), '2026-03-09', locale)
    }
    assert.equal(formatTyped('2026-03-09', 'de'), '09.03.2026')
    assert.equal(parseTyped('9.3.2026', 'de'), '2026-03-09')
    assert.equal(parseTyped('3/9/2026', 'en-US'), '2026-03-09')
    assert.equal(parseTyped('٩/٣/٢٠٢٦', 'ar-EG'), '2026-03-09')
    assert.equal(parseTyped('9/3/2026', 'ar-EG'), '2026-03-09')
    assert.equal(formatTyped('', 'de'), '')
  })

  it('are nothing while they are incomplete, or if there is no such day', () => {
    for (const text of ['', '9', '9.3.', '9.3.20', '31.2.2026', '2026-02-30', '1.13.2026', 'soon'])
      assert.equal(parseTyped(text, 'de'), undefined, text)
  })
})
