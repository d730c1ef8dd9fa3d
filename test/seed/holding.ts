import { storesOf } from '../../src/libraries/library/for-server.ts'
import type { TestServer } from '../support/server.ts'

/** Blocks reads of file content until disposed. */
export function holdContent(server: TestServer): Disposable {
  const { content } = storesOf(server.running.services.core)
  const read = content.read.bind(content)
  const readWhole = content.readWhole.bind(content)
  const { promise: opened, resolve: open } = Promise.withResolvers<void>()
  content.read = async function* (...args: Parameters<typeof read>) {
    await opened
    yield* read(...args)
  }
  content.readWhole = async (...args: Parameters<typeof readWhole>) => {
    await opened
    return readWhole(...args)
  }
  return {
    [Symbol.dispose]() {
      content.read = read
      content.readWhole = readWhole
      open()
    },
  }
}

/** Blocks background copies and moves before they start, until disposed. */
export function holdTasks(server: TestServer): Disposable {
  const { access } = server.running.services
  const reopen = access.reopen.bind(access)
  const { promise: opened, resolve: open } = Promise.withResolvers<void>()
  access.reopen = async (...args: Parameters<typeof reopen>) => {
    await opened
    return reopen(...args)
  }
  return {
    [Symbol.dispose]() {
      access.reopen = reopen
      open()
    },
  }
}

/** Makes writes of file content fail until disposed. */
export function breakStore(server: TestServer): Disposable {
  const { content } = storesOf(server.running.services.core)
  const receive = content.receive.bind(content)
  const stage = content.stage.bind(content)
  const fail = async () => {
    throw new Error('the store is broken')
  }
  content.receive = fail
  content.stage = fail
  return {
    [Symbol.dispose]() {
      content.receive = receive
      content.stage = stage
    },
  }
}
