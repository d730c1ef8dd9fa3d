import { json, kinds, ranged, rangeRequestHeaders } from '../../base/schemas/index.ts'

export const content = kinds.string({ format: 'binary', description: 'The content of a file.' })

export const uploadItem = kinds.record('UploadItem', () => ({
  name: kinds.name,
  id: kinds.objectId,
  size: kinds.size,
}))

export const chunkTaken = json(kinds.successFlag, 'A chunk was stored that is not the last.')

export const items = json(kinds.array(uploadItem), 'With `ret-json`, the stored files.')

export const ids = json(
  kinds.string({
    description: 'The ids of the stored files, separated by tabs. Not JSON, although it is labelled so.',
    pattern: '^[0-9a-f]{40}(\t[0-9a-f]{40})*$',
  }),
  'The ids of the stored files.',
)

export const rawId = json(
  kinds.string({
    description: 'The id of the file. Not JSON, although it is labelled so.',
    pattern: '^[0-9a-f]{40}$',
  }),
  'The id of the file.',
)

export const chunkHeaders = {
  'Content-Range': 'The place of a chunk in its file: `bytes 0-1023/4096`.',
  'Content-Disposition': 'The name of the file of a chunk: `attachment; filename="a.txt"`.',
}

export const uploadErrors = [409, 440, 441, 442, 443, 446]

const lastModify = kinds.optional(kinds.text('The time of the last change, in ISO 8601.'))

export const uploadForm = kinds.object({
  file: kinds.anyOf([content, kinds.array(content)], { description: 'May be repeated.' }),
  parent_dir: kinds.optional(kinds.text('The target folder: that of the link.')),
  relative_path: kinds.optional(kinds.text('A path below the target folder. Missing folders are created.')),
  replace: kinds.optional(kinds.text('`1` replaces files of the same name. Default: `0`.')),
  keep_same: kinds.optional(
    kinds.text(
      '`1` answers with the file that the folder has already, under its name or a numbered one, if content, `last_modify` and modifier are the same, instead of storing it once more. So an upload without a response can be repeated. Not for visitors of links. Default: `0`.',
    ),
  ),
  last_modify: lastModify,
})

export const browserForm = kinds.without(uploadForm, ['replace', 'keep_same'])

export const updateForm = kinds.object({
  file: content,
  target_file: kinds.text('The path of the file to replace.'),
  last_modify: lastModify,
})

export const blockFields = {
  file_size: kinds.text('The size of the file in bytes.'),
  blockids: kinds.anyOf([kinds.text(), kinds.array(kinds.objectId)], {
    description: 'The ids of its blocks: a JSON array, also as text.',
  }),
  last_modify: lastModify,
}

export const updateQuery = {
  head: 'The id of the commit that the new content was edited from. If the file changed since, the new content becomes a conflict copy.',
}

export const commitQuery = { commitonly: 'Required.', 'ret-json': 'Answers with an object.' }

export const fileName = { 'Content-Disposition': 'The name of the file.' }

export const requestHeaders = {
  ...rangeRequestHeaders,
  'Want-Repr-Digest': 'Asks for `Repr-Digest`, the digest of the file (RFC 9530).',
  'Want-Content-Digest': 'Asks for `Content-Digest`, the digest of what is sent (RFC 9530).',
}

const digests = {
  'Repr-Digest': 'The digest of the file, if it was requested.',
  'Content-Digest': 'The digest of what is sent, if it was requested.',
}

export const file = ranged('*/*', 'The content of the file, in the type of its name', {
  ...fileName,
  ...digests,
})
