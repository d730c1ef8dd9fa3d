// Health check of the container: exits with 0 if the server on this data folder can serve. The address comes from the file that
// a running server writes, so the check needs no settings of its own.
import { readFileSync } from 'node:fs'
import http from 'node:http'
import https from 'node:https'
import path from 'node:path'

try {
  const file = path.join(process.env.CARREL_DATA ?? 'data', 'server.json')
  const { address } = JSON.parse(readFileSync(file, 'utf8'))
  const { get } = address.startsWith('https:') ? https : http
  // The certificate is for the public name, not for this address.
  const request = get(
    new URL('/readyz', address),
    { timeout: 4000, rejectUnauthorized: false },
    (response) => {
      let text = ''
      response.setEncoding('utf8')
      response.on('data', (part) => {
        text += part
      })
      response.on('end', () => finish(response.statusCode === 200, text))
    },
  )
  request.on('timeout', () => request.destroy(new Error('no response within 4 seconds')))
  request.on('error', (error) => finish(false, error.message))
} catch (error) {
  finish(false, `no server on the data folder: ${error.message}`)
}

/** @param {boolean} isReady @param {string} reason */
function finish(isReady, reason) {
  process.stdout.write(`${reason}\n`)
  process.exitCode = isReady ? 0 : 1
}
