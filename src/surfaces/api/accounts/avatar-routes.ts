import { bytes, json, kinds } from '../../../base/schemas/index.ts'
import {
  accepting,
  type FilePart,
  integer,
  map,
  type Reader,
  rawText,
  rawValue,
} from '../../../platform/input/index.ts'
import { errorMessage, notFound, rawResponse } from '../../../platform/responses/index.ts'
import { formatSize } from '../common/wire-formats.ts'
import { emailParam } from './account-input.ts'
import { avatarUrl } from './account-wire.ts'
import { avatar as avatarSchema } from './accounts.schema.ts'
import { accountRoute as route } from './services.ts'

const MAX_FILE = 1024 * 1024
// Images above the limit get an error message, unless they exceed the body limit.
const MAX_BODY = 4 * MAX_FILE
const extensions = ['.jpg', '.jpeg', '.png', '.gif']

/** The uploaded image, of an accepted type and size. */
const picture: Reader<Buffer> = accepting({ type: 'file', required: true }, (fields, name) => {
  const sent = rawValue()(fields, name)
  if (!isFile(sent) || sent.bytes.length === 0) throw errorMessage(400, 'avatar invalid.')
  const extension = /\.[^./\\]*$/.exec(sent.filename)?.[0].toLowerCase() ?? ''
  if (!extensions.includes(extension)) {
    const known = extensions.join(', ')
    throw errorMessage(400, `${extension} is an invalid file extension. Authorized extensions are : ${known}`)
  }
  if (sent.bytes.length > MAX_FILE) {
    const [size, most] = [formatSize(sent.bytes.length), formatSize(MAX_FILE)]
    throw errorMessage(400, `Your file is too big (${size}), the maximum allowed size is ${most}`)
  }
  return sent.bytes
})

/** The size in a file name such as `72.png`. */
const imageSize = map(rawText(), (sent) => {
  const size = /^([1-9]\d{0,4})\.png$/.exec(sent ?? '')?.[1]
  return size === undefined ? undefined : Number(size)
})

const imageName = map(rawText(), (sent) => (/^[0-9a-f]{32}$/.test(sent ?? '') ? sent : undefined))

export const avatarRoutes = [
  route({
    method: 'GET',
    path: '/api2/avatars/user/:email/resized/:size/',
    auth: 'user',
    summary: 'Returns the avatar URL of an account.',
    compatibility: {
      result: 'different',
      note: 'The picture has the next larger of the stored sizes 32, 72, 128 and 256.',
    },
    params: { email: emailParam, size: integer({ min: 1, max: 10_000 }) },
    responses: () => ({
      200: json(
        kinds.record('Avatar', { url: kinds.url, is_default: kinds.flag(), mtime: kinds.unixTime }),
        'The avatar.',
      ),
    }),
    async handle({ params, request }, { accounts }) {
      const account = await accounts.find(params.email)
      return {
        url: avatarUrl(request.baseUrl, account, params.size),
        is_default: account?.avatar === undefined,
        mtime: account?.avatarAt ?? 0,
      }
    },
  }),
  route({
    method: 'POST',
    path: '/api/v2.1/user-avatar/',
    auth: 'user',
    summary: "Changes the caller's avatar.",
    compatibility: 'supported',
    body: { avatar: picture },
    bodyLimit: MAX_BODY,
    responses: () => ({ 200: json(avatarSchema, 'The URL of the avatar.') }),
    async handle({ user, body, request }, { avatars }) {
      const avatar = await avatars.put(user, body.avatar)
      if (avatar === undefined) throw errorMessage(400, 'avatar invalid.')
      return { avatar_url: avatarUrl(request.baseUrl, { avatar }) }
    },
  }),
  route({
    method: 'DELETE',
    path: '/api/v2.1/user-avatar/',
    auth: 'user',
    summary: "Removes the caller's avatar.",
    compatibility: 'addition',
    callers: 'every account',
    responses: () => ({ 200: json(avatarSchema, 'The URL of the default avatar.') }),
    async handle({ user, request }, { avatars }) {
      await avatars.remove(user)
      return { avatar_url: avatarUrl(request.baseUrl) }
    },
  }),
  route({
    method: 'GET',
    path: '/media/avatars/:name/:size',
    auth: 'none',
    summary: 'Returns the avatar of an account.',
    params: { name: imageName, size: imageSize },
    responses: () => ({
      200: bytes('image/png', 'The image. It never changes.'),
    }),
    async handle({ params }, { avatars }) {
      const body = await avatars.find(params.name, params.size)
      if (body === undefined) throw notFound()
      const headers = {
        'Content-Type': 'image/png',
        'Cache-Control': 'public, max-age=31536000, immutable',
      }
      return rawResponse({ headers, body })
    },
  }),
]

function isFile(sent: unknown): sent is FilePart {
  return typeof sent === 'object' && sent !== null && 'bytes' in sent && Buffer.isBuffer(sent.bytes)
}
