import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { FileJournal } from './workload.ts'

describe('the journal of files', () => {
  const journal = () => {
    const made = new FileJournal('upload')
    made.send('kept', Buffer.from('kept')).isAcknowledged = true
    made.send('cut off', Buffer.from('cut off'))
    return made
  }
  const verify = (names: readonly string[], read: (name: string) => string = (name) => name) =>
    journal().verify(names, async (name) => Buffer.from(read(name)))

  it('accepts what was acknowledged, with and without what was not', async () => {
    await verify(['kept'])
    await verify(['kept', 'cut off'])
  })

  it('notices a loss, other bytes, half a file, a stranger and a duplicate', async () => {
    await assert.rejects(verify(['cut off']), /kept was acknowledged and is gone/)
    await assert.rejects(
      verify(['kept'], () => 'damaged'),
      /kept has other bytes/,
    )
    await assert.rejects(
      verify(['kept', 'cut off'], (name) => name.slice(0, 4)),
      /cut off has other bytes/,
    )
    await assert.rejects(verify(['kept', 'foreign']), /foreign was never sent/)
    await assert.rejects(verify(['kept', 'kept']), /listed twice/)
  })

  it('reads each file once', async () => {
    const read: string[] = []
    const one = journal()
    for (let round = 0; round < 2; round += 1) {
      await one.verify(['kept'], async (name) => {
        read.push(name)
        return Buffer.from(name)
      })
    }
    assert.deepEqual(read, ['kept'])
  })
})
