import assert from 'node:assert/strict'
import { describe, it, type TestContext } from 'node:test'
import { Journal } from './journal.ts'

/** A journal of collections that take one second each, without a pause, and a megabyte written in each second. */
function journalOf(t: TestContext, seconds: number) {
  let now = 0
  t.mock.method(performance, 'now', () => now * 1000)
  const journal = new Journal()
  const backups: Disposable[] = []
  return {
    journal,
    run(backupAt?: number, backupEnds?: number) {
      for (let second = 0; second < seconds; second += 1) {
        now = second
        if (second === backupAt) backups.push(journal.begin('backup'))
        if (second === backupEnds) backups.pop()?.[Symbol.dispose]()
        const collection = journal.begin('collection')
        journal.wrote(1_000_000)
        now = second + 1
        collection[Symbol.dispose]()
      }
      return journal
    },
  }
}

describe('garbage during a soak', () => {
  it('is explained by what was written in the last six collections', (t) => {
    const journal = journalOf(t, 100).run()
    assert.equal(journal.explainedAt(3), undefined)
    assert.equal(journal.explainedAt(90), 7_000_000)
  })

  it('is explained by what was written since shortly before a backup that is running or has just ended', (t) => {
    const journal = journalOf(t, 100).run(40, 60)
    assert.equal(journal.explainedAt(39), 7_000_000)
    assert.equal(journal.explainedAt(59), 26_000_000)
    assert.equal(journal.explainedAt(90), 7_000_000)
  })
})
