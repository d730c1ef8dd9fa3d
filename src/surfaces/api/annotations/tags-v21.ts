import { baseName, parentOf } from '../../../base/paths/index.ts'
import { json, kinds } from '../../../base/schemas/index.ts'
import { flag, integer, map, text } from '../../../platform/input/index.ts'
import { errorMessage, jsonResponse } from '../../../platform/responses/index.ts'
import { libraryIdParam, requiredPath } from '../common/readers.ts'
import { fileAt } from '../common/resolve-path.ts'
import { isoTime } from '../common/wire-formats.ts'
import { annotationIdParam } from './annotation-id.ts'
import {
  deletedFile,
  fileTag,
  oneTag,
  removed,
  tag as tagDescribed,
  taggedFile,
} from './annotations.schema.ts'
import { route } from './services.ts'
import { fileTagToWire, tagToWire } from './tag-wire.ts'

const MAX_NAME = 60
const base = '/api/v2.1/repos/:repo_id/'
const params = { repo_id: libraryIdParam }

/** One line, without spaces around it. */
const tagName = map(text(), (sent) => {
  const name = sent.normalize('NFC').trim()
  return name !== '' && name.length <= MAX_NAME && !/\p{Cc}/u.test(name) ? name : undefined
})
/** As clients send colors. Nothing else, because pages put it into a style. */
const tagColor = map(text(), (sent) =>
  /^(?:#[0-9a-f]{3}|#[0-9a-f]{6}|[a-z]{3,20})$/i.test(sent) ? sent : undefined,
)

const ofTag = {
  'tag-not-found': (): [number, string] => [404, 'repo_tag not found.'],
  'tag-exists': ({ name }: { name: string }): [number, string] => [400, `repo tag ${name} already exist.`],
}

export const tagRoutes = [
  route({
    method: 'GET',
    path: `${base}repo-tags/`,
    auth: 'user',
    summary: 'Lists the tags of a library; in a shared folder, those of its files.',
    compatibility: 'supported',
    callers: 'readers',
    params,
    query: { include_file_count: flag({ default: true }) },
    responses: () => ({
      200: json(
        kinds.record('TagsOfLibrary', {
          repo_tags: kinds.array(
            kinds.object({ ...tagDescribed, files_count: kinds.count('The number of files with it.') }),
          ),
        }),
        'The tags.',
      ),
    }),
    async handle({ user, params }, { access, tags }) {
      const found = await tags.list(await access.open(user, params.repo_id))
      return {
        repo_tags: found.map((tag) => ({ ...tagToWire(params.repo_id, tag), files_count: tag.files })),
      }
    },
  }),
  route({
    method: 'POST',
    path: `${base}repo-tags/`,
    auth: 'user',
    summary: 'Adds a tag to a library.',
    compatibility: 'supported',
    params,
    body: { name: tagName, color: tagColor },
    faults: ofTag,
    responses: () => ({ 201: json(oneTag, 'The new tag.') }),
    async handle({ user, params, body }, { access, tags }) {
      const tag = await tags.add(await access.open(user, params.repo_id), body)
      return jsonResponse(201, { repo_tag: tagToWire(params.repo_id, tag) })
    },
  }),
  route({
    method: 'PUT',
    path: `${base}repo-tags/:repo_tag_id/`,
    auth: 'user',
    summary: 'Changes the name and the color of a tag.',
    compatibility: 'supported',
    params: { ...params, repo_tag_id: annotationIdParam },
    body: { name: tagName, color: tagColor },
    faults: ofTag,
    responses: () => ({
      200: json(oneTag, 'The changed tag.'),
    }),
    async handle({ user, params, body }, { access, tags }) {
      const tag = await tags.change(await access.open(user, params.repo_id), params.repo_tag_id, body)
      return { repo_tag: tagToWire(params.repo_id, tag) }
    },
  }),
  route({
    method: 'DELETE',
    path: `${base}repo-tags/:repo_tag_id/`,
    auth: 'user',
    summary: 'Deletes a tag, and removes it from all files.',
    compatibility: 'supported',
    params: { ...params, repo_tag_id: annotationIdParam },
    faults: ofTag,
    responses: () => removed('The tag was deleted.'),
    async handle({ user, params }, { access, tags }) {
      await tags.remove(await access.open(user, params.repo_id), params.repo_tag_id)
      return { success: 'true' }
    },
  }),
  route({
    method: 'POST',
    path: `${base}repo-tags/:repo_tag_id/merge/`,
    auth: 'user',
    summary: 'Gives all files with a tag the tag `into` instead, and deletes the first one.',
    compatibility: 'addition',
    params: { ...params, repo_tag_id: annotationIdParam },
    body: { into: integer({ min: 1 }) },
    faults: ofTag,
    responses: () => ({
      200: json(oneTag, 'The remaining tag.'),
    }),
    async handle({ user, params, body }, { access, tags }) {
      const tag = await tags.merge(await access.open(user, params.repo_id), params.repo_tag_id, body.into)
      return { repo_tag: tagToWire(params.repo_id, tag) }
    },
  }),
  route({
    method: 'GET',
    path: `${base}tagged-files/:repo_tag_id/`,
    auth: 'user',
    summary: 'Lists the files with a tag.',
    compatibility: 'supported',
    params: { ...params, repo_tag_id: annotationIdParam },
    faults: {
      'tag-not-found': () => [404, 'repo_tag not found.'],
    },
    responses: () => ({
      200: json(
        kinds.record('TaggedFiles', { tagged_files: kinds.array(kinds.anyOf([taggedFile, deletedFile])) }),
        'The files with the tag.',
      ),
    }),
    async handle({ user, params }, { access, directory, tags }) {
      const library = await access.open(user, params.repo_id)
      const found = await tags.filesWith(library, params.repo_tag_id)
      const files = []
      for (const { fileTagId, path, isDeleted } of found) {
        const entry = isDeleted ? undefined : await library.tree.find(path)
        if (entry?.kind !== 'file') {
          files.push({ file_deleted: true, file_tag_id: fileTagId, filename: baseName(path) })
          continue
        }
        const modifier = await directory.person(entry.modifier)
        files.push({
          parent_path: parentOf(path),
          filename: entry.name,
          size: entry.size,
          mtime: entry.mtime,
          last_modified: isoTime(entry.mtime),
          modifier_email: modifier.email,
          modifier_contact_email: modifier.contactEmail,
          modifier_name: modifier.name,
          file_tag_id: fileTagId,
        })
      }
      return { tagged_files: files }
    },
  }),
  route({
    method: 'GET',
    path: `${base}file-tags/`,
    auth: 'user',
    summary: 'Lists the tags of a file.',
    compatibility: 'supported',
    callers: 'readers',
    sample: { query: { file_path: '/in.txt' } },
    params,
    query: { file_path: requiredPath() },
    responses: () => ({
      200: json(kinds.record('FileTags', { file_tags: kinds.array(fileTag) }), 'The tags of the file.'),
    }),
    async handle({ user, params, query }, { access, tags }) {
      const library = await access.open(user, params.repo_id)
      const { path } = await fileAt(library, query.file_path)
      return { file_tags: (await tags.ofFile(library, path)).map(fileTagToWire) }
    },
  }),
  route({
    method: 'POST',
    path: `${base}file-tags/`,
    auth: 'user',
    summary: 'Adds a tag of the library to a file.',
    compatibility: 'supported',
    params,
    body: { file_path: requiredPath(), repo_tag_id: integer({ min: 1 }) },
    faults: {
      'tag-not-found': () => [404, 'repo_tag not found.'],
    },
    responses: () => ({
      201: json(kinds.record('AddedFileTag', { file_tag: fileTag }), 'The tag at the file.'),
    }),
    async handle({ user, params, body }, { access, tags }) {
      const library = await access.open(user, params.repo_id)
      const { path } = await fileAt(library, body.file_path)
      const has = (await tags.ofFile(library, path)).some(({ tag }) => tag.id === body.repo_tag_id)
      if (has) throw errorMessage(400, `file tag ${body.repo_tag_id} already exist.`)
      const file = { user, libraryId: params.repo_id, path }
      return jsonResponse(201, { file_tag: fileTagToWire(await tags.tagFile(file, body.repo_tag_id)) })
    },
  }),
  route({
    method: 'DELETE',
    path: `${base}file-tags/:file_tag_id/`,
    auth: 'user',
    summary: 'Removes a tag from a file.',
    compatibility: 'supported',
    params: { ...params, file_tag_id: annotationIdParam },
    responses: () => removed('The tag was removed.'),
    async handle({ user, params }, { access, tags }) {
      await tags.untagFile(await access.open(user, params.repo_id), params.file_tag_id)
      return { success: 'true' }
    },
  }),
]
