import { readConfig } from '../../src/base/config/index.ts'
import { createLogger } from '../../src/base/logging.ts'
import type { Migration } from '../../src/platform/database/index.ts'
import { migrations } from '../../src/platform/database/migrations/index.ts'
import { startServer } from '../../src/programs/server/index.ts'

// A server of a later version: STEP…, each of them the kind of one more step of the schema. Shares the data folder, so that it finds the blocks.
const newest = Math.max(...migrations.map(({ version }) => version))
const added = process.argv.slice(2).map((kind, index): Migration => {
  const version = newest + 1 + index
  return {
    version,
    name: `${kind} of the future`,
    ...((kind === 'expand' || kind === 'contract') && { kind }),
    async up(tx, { int }) {
      await tx.run(`alter table library add column future_${version} ${int}`)
    },
  }
})
const config = readConfig({})
const logger = createLogger('warn', { pretty: false, destination: process.stdout })
try {
  const server = await startServer({
    config,
    logger,
    migrations: [...migrations, ...added],
    sharesDataFolder: true,
    onFatal() {
      process.exit(9)
    },
  })
  process.on('SIGTERM', () => void server.close().then(() => process.exit(0)))
  process.stdout.write(`${JSON.stringify({ url: server.listening.url })}\n`)
} catch (error) {
  process.stderr.write(`${error instanceof Error ? error.message : String(error)}\n`)
  process.exit(1)
}
