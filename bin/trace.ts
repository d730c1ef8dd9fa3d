import { readFileSync } from 'node:fs'
import { SourceMap, type SourceMapPayload } from 'node:module'
import { text } from 'node:stream/consumers'
import { gunzipSync } from 'node:zlib'

// `node bin/trace.ts source-maps.json.gz < report`: prints a report or a log with the source lines of the frames of its stack traces.

/** The content of source-maps.json.gz of a release. Keys are files of its package, such as `src/main.mjs`. */
export interface ReleaseMaps {
  readonly version: string
  readonly maps: Readonly<Record<string, SourceMapPayload>>
}

/** A position in the package, also with the separators of Windows in JSON. */
const FRAME = /[^\s()"]*\bcarrel[\\/]+(src[\\/]+[\w.\\/-]+\.mjs):(\d+):(\d+)/g

/** Maps positions in the bundle to positions in the sources. A position without a mapping is unchanged. */
export function withSources(report: string, { maps }: ReleaseMaps): string {
  return report.replaceAll(FRAME, (frame, name: string, line: string, column: string) => {
    const payload = maps[name.replaceAll(/[\\/]+/g, '/')]
    if (payload === undefined) return frame
    const origin = new SourceMap(payload).findOrigin(Number(line), Number(column))
    return 'fileName' in origin ? `${origin.fileName}:${origin.lineNumber}:${origin.columnNumber}` : frame
  })
}

if (import.meta.main) {
  const [, , file = 'release/source-maps.json.gz'] = process.argv
  const maps = JSON.parse(gunzipSync(readFileSync(file)).toString()) as ReleaseMaps
  process.stdout.write(withSources(await text(process.stdin), maps))
}
