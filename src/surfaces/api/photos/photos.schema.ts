import { kinds } from '../../../base/schemas/index.ts'

export const thumbhash = kinds.text('A small placeholder of the image: a ThumbHash in Base64.')

export const photo = kinds.record('Photo', () => ({
  repo_id: kinds.libraryId,
  path: kinds.path,
  id: kinds.objectId,
  type: kinds.oneOfWords(['image', 'video']),
  size: kinds.size,
  mtime: kinds.unixTime,
  taken: kinds.text('When it was taken, in the local time of the camera, with the offset from UTC if known.'),
  corrected: kinds.optional(kinds.flag('Whether somebody corrected the date.')),
  starred: kinds.flag('Whether the caller starred it.'),
  width: kinds.optional(kinds.count('In pixels, if known.')),
  height: kinds.optional(kinds.count('In pixels, if known.')),
  thumbhash: kinds.optional(thumbhash),
}))

export const place = kinds.object({
  repo_name: kinds.text('The name of the library.'),
  permission: kinds.permission,
})

export const day = kinds.custom<[day: string, photos: number]>({
  type: 'array',
  description: 'A day as `YYYY-MM-DD`, and its number of photos and videos.',
  prefixItems: [kinds.text(), kinds.count('The number.')],
  minItems: 2,
  maxItems: 2,
})

export const photoDates = kinds.record('PhotoDate', {
  repo_id: kinds.libraryId,
  path: kinds.path,
  taken: kinds.orNull(kinds.text('The corrected date in local time. Null for the date in the file.')),
})
