import assert from 'node:assert/strict'
import { mkdtemp, rm } from 'node:fs/promises'
import os from 'node:os'
import path from 'node:path'
import { after, before, describe, it } from 'node:test'
import { createLocalLocks } from '../../../../test/support/local-locks.ts'
import { openDatabase } from '../open.ts'
import { openSqlite } from './sqlite-database.ts'

describe('SQLite databases of several processes', () => {
  let folder = ''
  before(async () => {
    folder = await mkdtemp(path.join(os.tmpdir(), 'carrel-write-lock-'))
  })
  after(() => rm(folder, { recursive: true, force: true }))

  const openTwo = async () => {
    const setting = { kind: 'sqlite', file: path.join(folder, 'carrel.db') } as const
    const newLocks = createLocalLocks()
    const onFatal = (error: Error) => assert.fail(error)
    const one = await openDatabase(setting, { onFatal, locks: newLocks() })
    const two = await openDatabase(setting, { onFatal, locks: newLocks(), joins: true })
    return {
      one,
      two,
      async [Symbol.asyncDispose]() {
        await two[Symbol.asyncDispose]()
        await one[Symbol.asyncDispose]()
      },
    }
  }

  it('write one after the other', async () => {
    await using databases = await openTwo()
    const { one, two } = databases
    await one.write((tx) => tx.run('create table counter (value integer not null)'))
    await one.write((tx) => tx.run('insert into counter (value) values (0)'))
    const increments = Array.from({ length: 100 }, (_, n) =>
      (n % 2 === 0 ? one : two).write(async (tx) => {
        const row = await tx.get<{ value: number }>('select value from counter')
        await tx.run('update counter set value = ?', (row?.value ?? 0) + 1)
      }),
    )
    await Promise.all(increments)
    assert.deepEqual(await two.get('select value from counter'), { value: 100 })
  })

  it('flush what the other one committed before they acknowledge what they read of it', async () => {
    const newLocks = createLocalLocks()
    const syncs: string[] = []
    const openCounting = (name: string) =>
      openSqlite({
        file: path.join(folder, 'flushes.db'),
        onFatal: (error) => assert.fail(error),
        locks: newLocks(),
        joins: name !== 'one',
        async syncLog(log) {
          syncs.push(name)
          await log.datasync()
        },
      })
    await using one = await openCounting('one')
    await one.write((tx) => tx.run('create table note (text text)'))
    await using two = await openCounting('two')
    await two.write(async () => {})
    syncs.length = 0
    await one.write((tx) => tx.run("insert into note values ('a')"), { durable: false })
    // Changes nothing, and tells its caller that the note is there.
    const found = await two.write((tx) => tx.get('select text from note'))
    assert.deepEqual(found, { text: 'a' })
    assert.deepEqual(syncs, ['two'])
  })

  it('see a mutex that the other one has or waits for, and take turns', async () => {
    await using databases = await openTwo()
    const { one, two } = databases
    const isFree = () => two.write((tx) => tx.mutexIsFree(7))
    assert.equal(await isFree(), true)
    const order: string[] = []
    await one.withMutex(7, async () => {
      assert.equal(await isFree(), false)
      void two.withMutex(7, async () => void order.push('two'))
      await isFree()
      order.push('one')
    })
    await two.withMutex(7, async () => {})
    assert.deepEqual(order, ['one', 'two'])
    assert.equal(await isFree(), true)
  })
})
