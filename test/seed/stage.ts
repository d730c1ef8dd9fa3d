import type { Inside, Stage } from '../../packages/conformance/stage.ts'
import { requireDescribedFields } from '../support/exchanges.ts'
import { startServer, type TestServer } from '../support/server.ts'
import { eventually, uploadFile } from '../support/transfer.ts'
import { breakStore, holdContent, holdTasks } from './holding.ts'

const LARGEST_UPLOAD = 1_000_000
const SMALLEST_QUOTA = 1000

export type TestStage = Stage & AsyncDisposable

/** A server of our own with two accounts, at which every statement can be tried. */
export async function openStage(): Promise<TestStage> {
  // Some statements cause failures inside the server; their log lines are dropped.
  const env = { CARREL_LOG: 'silent', CARREL_MAX_UPLOAD_MB: String(LARGEST_UPLOAD / 1_000_000) }
  const server = await startServer({ env })
  requireDescribedFields(server.url)
  const user = await server.signUp()
  return {
    user,
    other: await server.signUp(),
    checksNotes: true,
    largestUpload: LARGEST_UPLOAD,
    smallestQuota: SMALLEST_QUOTA,
    inside: insideOf(server),
    async library(files = {}) {
      const id = await user.createLibrary('Plans')
      for (const [path, text] of Object.entries(files)) await uploadFile(user, id, path, text)
      return id
    },
    signUp: () => server.signUp(),
    admin: () => server.admin(),
    async limitSpace({ email }) {
      await server.running.services.accounts.update(email, { quota: SMALLEST_QUOTA }, undefined)
    },
    eventually,
    [Symbol.asyncDispose]: () => server[Symbol.asyncDispose](),
  }
}

function insideOf(server: TestServer): Inside {
  return {
    holdContent: () => holdContent(server),
    holdTasks: () => holdTasks(server),
    breakStore: () => breakStore(server),
    deprecatedCalls: () =>
      server.running.endpoints
        .filter(({ summary }) => summary.endsWith(' Deprecated.'))
        .map(({ method, path }) => `${method} ${path}`),
  }
}
