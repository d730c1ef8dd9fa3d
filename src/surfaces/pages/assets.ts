import { hash } from 'node:crypto'
import { readFile } from 'node:fs/promises'
import { rawResponse } from '../../platform/responses/index.ts'
import { route } from './services.ts'
import { fontFaces } from './web-app.ts'

const files = {
  'pages.css': 'text/css; charset=utf-8',
  'pages.js': 'text/javascript; charset=utf-8',
  'icon.svg': 'image/svg+xml',
  'reference.css': 'text/css; charset=utf-8',
  'reference.js': 'text/javascript; charset=utf-8',
} as const

type FileName = keyof typeof files

const read = new Map<FileName, Promise<Buffer>>()
let version: Promise<string> | undefined

/** A version of the assets for their URLs, so that browsers may cache them for long. */
export function assetVersion(): Promise<string> {
  version ??= Promise.all((Object.keys(files) as FileName[]).map(contentOf)).then((contents) =>
    hash('sha256', Buffer.concat(contents), 'hex').slice(0, 12),
  )
  return version
}

export const assetRoutes = (Object.keys(files) as FileName[]).map((name) =>
  route({
    method: 'GET',
    path: `/pages/${name}`,
    auth: 'none',
    summary: 'Sends an asset of the pages of links and of the API reference.',
    async handle() {
      const headers = {
        'Content-Type': files[name],
        'Cache-Control': 'public, max-age=31536000, immutable',
      }
      return rawResponse({ headers, body: await contentOf(name) })
    },
  }),
)

function contentOf(name: FileName): Promise<Buffer> {
  const known = read.get(name) ?? load(name)
  read.set(name, known)
  return known
}

async function load(name: FileName): Promise<Buffer> {
  const content = await readFile(new URL(`./assets/${name}`, import.meta.url))
  return name === 'pages.css' ? Buffer.concat([Buffer.from(await fontFaces()), content]) : content
}
