import { buffer } from 'node:stream/consumers'
import {
  type Browser,
  type BrowserContext,
  type BrowserContextOptions,
  chromium,
  type Download,
} from 'playwright-core'
import { findBrowser } from '../../bin/system-programs.ts'

const ARGUMENTS = [
  '--no-sandbox',
  '--disable-gpu',
  '--disable-dev-shm-usage',
  '--disable-quic',
  '--no-first-run',
  '--disable-background-networking',
  '--disable-component-update',
  '--disable-sync',
]

/** Connects to the Chromium of the test run, or starts one. Undefined where none is installed. */
export async function openBrowser(): Promise<Browser | undefined> {
  const shared = process.env['CARREL_TEST_BROWSER']
  if (shared !== undefined) return chromium.connect(shared)
  const executablePath = findBrowser()
  return executablePath === undefined ? undefined : chromium.launch({ executablePath, args: ARGUMENTS })
}

/** Starts a Chromium of its own with a profile on disk, as the next start finds it. Undefined where none is installed. */
export async function openProfile(
  folder: string,
  options: BrowserContextOptions = {},
): Promise<BrowserContext | undefined> {
  const executablePath = findBrowser()
  if (executablePath === undefined) return undefined
  return chromium.launchPersistentContext(folder, { ...options, executablePath, args: ARGUMENTS })
}

/** Starts a Chromium for a whole test run, and names its address in the environment of test processes. */
export async function shareBrowser(): Promise<AsyncDisposable | undefined> {
  const executablePath = findBrowser()
  if (executablePath === undefined) return undefined
  const server = await chromium.launchServer({ executablePath, args: ARGUMENTS, host: '127.0.0.1' })
  process.env['CARREL_TEST_BROWSER'] = server.wsEndpoint()
  return { [Symbol.asyncDispose]: () => server.close() }
}

/** The bytes of a download. With a shared browser the file is not reachable by path. */
export async function downloadedBytes(download: Download): Promise<Buffer> {
  return buffer(await download.createReadStream())
}
