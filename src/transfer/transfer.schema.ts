import { Type } from 'typebox'
import { json, kinds, operation, plain, ranged, rangeRequestHeaders } from '../openapi/index.ts'

const content = Type.String({ format: 'binary', description: 'The content of a file.' })

const uploadItem = kinds.record('UploadItem', { name: kinds.name, id: kinds.objectId, size: kinds.size })

const chunkTaken = json(kinds.successFlag, 'A chunk was stored that is not the last.')

const items = json(Type.Array(uploadItem), 'With `ret-json`, the stored files.')

const ids = json(
  Type.String({
    description: 'The ids of the stored files, separated by tabs. Not JSON, although it is labelled so.',
    pattern: '^[0-9a-f]{40}(\t[0-9a-f]{40})*$',
  }),
  'The ids of the stored files.',
)

const rawId = json(
  Type.String({
    description: 'The id of the file. Not JSON, although it is labelled so.',
    pattern: '^[0-9a-f]{40}$',
  }),
  'The id of the file.',
)

const chunkHeaders = {
  'Content-Range': 'The place of a chunk in its file: `bytes 0-1023/4096`.',
  'Content-Disposition': 'The name of the file of a chunk: `attachment; filename="a.txt"`.',
}

const uploadErrors = [409, 440, 441, 442, 443, 446]

const lastModify = Type.Optional(kinds.text('The time of the last change, in ISO 8601.'))

const uploadForm = Type.Object({
  file: Type.Union([content, Type.Array(content)], { description: 'May be repeated.' }),
  parent_dir: Type.Optional(kinds.text('The target folder: that of the link.')),
  relative_path: Type.Optional(kinds.text('A path below the target folder. Missing folders are created.')),
  replace: Type.Optional(kinds.text('`1` replaces files of the same name. Default: `0`.')),
  keep_same: Type.Optional(
    kinds.text(
      '`1` answers with the file that the folder has already, under its name or a numbered one, if content, `last_modify` and modifier are the same, instead of storing it once more. So an upload without a response can be repeated. Not for visitors of links. Default: `0`.',
    ),
  ),
  last_modify: lastModify,
})

const browserForm = Type.Omit(uploadForm, ['replace', 'keep_same'])

const updateForm = Type.Object({
  file: content,
  target_file: kinds.text('The path of the file to replace.'),
  last_modify: lastModify,
})

const blockFields = {
  file_size: kinds.text('The size of the file in bytes.'),
  blockids: Type.Union([kinds.text(), Type.Array(kinds.objectId)], {
    description: 'The ids of its blocks: a JSON array, also as text.',
  }),
  last_modify: lastModify,
}

const updateQuery = {
  head: 'The id of the commit that the new content was edited from. If the file changed since, the new content becomes a conflict copy.',
}

const commitQuery = { commitonly: 'Required.', 'ret-json': 'Answers with an object.' }

/** Uploads, which answer errors as JSON. */
export const uploadSchemas = [
  operation(
    'POST /seafhttp/upload-api/:ticket',
    {
      200: [
        items,
        ids,
        chunkTaken,
        plain(kinds.text('The id of a task.'), 'With `need_idx_progress`, a task to poll.'),
      ],
    },
    {
      errors: uploadErrors,
      requestHeaders: chunkHeaders,
      multipart: uploadForm,
      query: {
        'ret-json': 'Answers with a list of the stored files.',
        need_idx_progress: '`true` answers with the id of a task.',
        replace: '`1` replaces files of the same name, unless the form says otherwise.',
      },
    },
  ),
  operation(
    'POST /seafhttp/update-api/:ticket',
    { 200: [json(kinds.objectId, 'The id of the new content.'), chunkTaken] },
    { errors: uploadErrors, requestHeaders: chunkHeaders, query: updateQuery, multipart: updateForm },
  ),
  operation(
    'POST /seafhttp/upload-aj/:ticket',
    { 200: [json(Type.Array(uploadItem), 'The stored files.'), chunkTaken] },
    { errors: uploadErrors, requestHeaders: chunkHeaders, multipart: browserForm },
  ),
  operation(
    'POST /seafhttp/update-aj/:ticket',
    { 200: [json(Type.Array(uploadItem), 'The file with its new content.'), chunkTaken] },
    { errors: uploadErrors, requestHeaders: chunkHeaders, query: updateQuery, multipart: updateForm },
  ),
  operation(
    'GET /seafhttp/idx_progress',
    {
      200: json(
        kinds.record('IndexProgress', {
          indexed: kinds.count('The number of files that were indexed.'),
          total: kinds.count('The number of files.'),
          status: Type.Literal(0, { description: 'Finished.' }),
          ret_json: kinds.text('A JSON array of the stored files.'),
        }),
        'The progress.',
      ),
    },
    { parameters: { task_id: { required: true } } },
  ),
  operation(
    'POST /seafhttp/upload-raw-blks-api/:ticket',
    { 200: json(Type.Literal('OK'), 'The blocks were stored.') },
    {
      errors: uploadErrors,
      multipart: Type.Object({
        file: Type.Union([content, Type.Array(content)], {
          description: 'A block. Its file name is its id.',
        }),
      }),
    },
  ),
  operation(
    'POST /seafhttp/upload-blks-api/:ticket',
    {
      200: [
        json(kinds.record('CommittedFile', { id: kinds.objectId }), 'With `ret-json`, the new file.'),
        json(kinds.objectId, 'The id of the new file.'),
      ],
    },
    {
      errors: uploadErrors,
      query: commitQuery,
      body: Type.Object({
        parent_dir: kinds.text('The target folder: that of the link.'),
        file_name: kinds.text('The name of the file.'),
        replace: Type.Optional(kinds.text('`1` replaces a file of the same name.')),
        ...blockFields,
      }),
    },
  ),
  operation(
    'POST /seafhttp/update-blks-api/:ticket',
    { 200: rawId },
    {
      errors: uploadErrors,
      query: commitQuery,
      body: Type.Object({ target_file: kinds.text('The path of the file to replace.'), ...blockFields }),
    },
  ),
]

const fileName = { 'Content-Disposition': 'The name of the file.' }

const requestHeaders = {
  ...rangeRequestHeaders,
  'Want-Repr-Digest': 'Asks for `Repr-Digest`, the digest of the file (RFC 9530).',
  'Want-Content-Digest': 'Asks for `Content-Digest`, the digest of what is sent (RFC 9530).',
}

const digests = {
  'Repr-Digest': 'The digest of the file, if it was requested.',
  'Content-Digest': 'The digest of what is sent, if it was requested.',
}

const file = ranged('*/*', 'The content of the file, in the type of its name', { ...fileName, ...digests })

/** Downloads, which answer errors as text. */
export const downloadSchemas = [
  operation('GET /seafhttp/zip/:ticket', ranged('application/zip', 'The archive', fileName), {
    requestHeaders: rangeRequestHeaders,
  }),
  // Always an error.
  operation('GET /seafhttp/zip/', {}),
  operation('GET /seafhttp/files/:ticket/:name', file, { requestHeaders }),
  // Always an error.
  operation('GET /seafhttp/files/:ticket', {}),
  operation('GET /seafhttp/blks/:ticket/:block_id', ranged('application/octet-stream', 'The block'), {
    requestHeaders: rangeRequestHeaders,
  }),
  operation('GET /seafhttp/f/:token/', file, {
    requestHeaders: { ...requestHeaders, 'X-Link-Password': 'The password of the link, if it has one.' },
    query: { password: 'As `X-Link-Password`, for clients that cannot set headers.' },
    parameters: { op: { description: '`view` shows it in the browser, if its type is harmless.' } },
  }),
]
