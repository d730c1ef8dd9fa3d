import './libraries.css'
import { useQueryClient } from '@tanstack/react-query'
import { Star } from 'lucide-react'
import { Link } from 'wouter'
import { patchQuery, removeStar, type StarredItem, useStarred } from '../api/index.ts'
import { fileUrl, folderUrl } from '../navigation/index.ts'
import { normalizePath } from '../paths.ts'
import { useFormats, useTexts } from '../texts/index.ts'
import { Empty, IconButton, LoadError, useFailureToast, useTitle, visibleName, Waiting } from '../ui/index.ts'
import { FilePicture } from './file-picture.tsx'
import { LibraryIcon } from './library-row.tsx'

/** Starred libraries, folders and files. */
export default function StarredPage() {
  const texts = useTexts('libraries')
  useTitle(texts.starred)
  const common = useTexts('common')
  const { data, error, refetch } = useStarred()
  return (
    <div className="page">
      <div className="page-head">
        <h1>{texts.starred}</h1>
      </div>
      {data === undefined &&
        (error ? <LoadError error={error} onRetry={() => void refetch()} /> : <Waiting />)}
      {data?.length === 0 && <Empty icon={Star} title={texts.starredEmpty} hint={texts.starredEmptyHint} />}
      {data !== undefined && data.length > 0 && (
        <table className="table libraries-table" aria-label={texts.starred}>
          <thead>
            <tr>
              <th className="libraries-star">
                <span className="visually-hidden">{texts.star}</span>
              </th>
              <th className="libraries-name">{common.name}</th>
              <th className="libraries-owner">{texts.inLibrary}</th>
              <th className="libraries-modified">{common.modified}</th>
            </tr>
          </thead>
          <tbody>
            {data.map((item) => (
              <StarredRow key={item.repo_id + item.path} item={item} />
            ))}
          </tbody>
        </table>
      )}
    </div>
  )
}

function StarredRow(props: { item: StarredItem }) {
  const { repo_id: id, repo_name: library, obj_name: name, path, mtime, deleted, is_dir } = props.item
  const texts = useTexts('libraries')
  const formats = useFormats()
  const unstar = useUnstar()
  const isLibrary = path === '/'
  const words = (
    <>
      {isLibrary ? (
        <LibraryIcon encrypted={props.item.repo_encrypted} />
      ) : (
        <FilePicture
          libraryId={id}
          path={normalizePath(path)}
          isDir={is_dir}
          isEncrypted={props.item.repo_encrypted || deleted}
          version={mtime}
        />
      )}
      <span className="libraries-words">
        <bdi className="libraries-title">{visibleName(name)}</bdi>
        <span className="libraries-meta muted">
          {!isLibrary && (
            <>
              <bdi>{library}</bdi>
              {' · '}
            </>
          )}
          {deleted ? texts.gone : formats.when(mtime)}
        </span>
      </span>
    </>
  )
  const address = is_dir ? folderUrl(id, normalizePath(path)) : fileUrl(id, path)
  return (
    <tr>
      <td className="libraries-star">
        <IconButton
          className="libraries-starred"
          icon={Star}
          label={texts.unstarOf(name)}
          title={texts.unstar}
          onClick={() => void unstar(props.item)}
        />
      </td>
      <td className="libraries-name libraries-starred-name">
        {deleted ? (
          <span className="libraries-link libraries-gone" title={name}>
            {words}
          </span>
        ) : (
          <Link to={address} className="libraries-link" title={isLibrary ? name : path}>
            {words}
          </Link>
        )}
      </td>
      <td className="libraries-owner" title={library}>
        {!isLibrary && <bdi>{library}</bdi>}
      </td>
      <td className="libraries-modified">
        {deleted ? (
          <span className="badge">{texts.gone}</span>
        ) : (
          <time dateTime={mtime} title={formats.moment(mtime)}>
            {formats.when(mtime)}
          </time>
        )}
      </td>
    </tr>
  )
}

function useUnstar() {
  const queries = useQueryClient()
  const failed = useFailureToast()
  return async ({ repo_id: id, path }: StarredItem): Promise<void> => {
    patchQuery<StarredItem[]>(queries, ['starred'], (all) =>
      all.filter((one) => one.repo_id !== id || one.path !== path),
    )
    try {
      await removeStar(id, path)
    } catch (error) {
      failed(error)
    }
    for (const queryKey of [['starred'], ['libraries'], ['dir', id]]) {
      void queries.invalidateQueries({ queryKey })
    }
  }
}
