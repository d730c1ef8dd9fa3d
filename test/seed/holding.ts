import type { TestServer } from '../support/server.ts'

/** Holds up whatever reads the bytes of files, until it is disposed of. */
export function holdContent(server: TestServer): Disposable {
  const { content } = server.running.services.core
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

/** Holds up copies and moves in the background before they do anything, until it is disposed of. */
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

/** Makes whatever takes in the bytes of files fail, until it is disposed of. */
export function breakStore(server: TestServer): Disposable {
  const { content } = server.running.services.core
  const receive = content.receive.bind(content)
  content.receive = async () => {
    throw new Error('the store is broken')
  }
  return {
    [Symbol.dispose]() {
      content.receive = receive
    },
  }
}
