import { Eraser, FolderOpen, Link2, SearchX, Settings2, Upload } from 'lucide-react'
import { useState } from 'react'
import { Link, useLocation } from 'wouter'
import { cleanLinks, type LinkItem, type LinkKind, useLinks } from '../api/index.ts'
import { fileUrl, folderUrl } from '../navigation/index.ts'
import { normalizePath, parentOf } from '../paths.ts'
import { useTexts } from '../texts/index.ts'
import {
  Button,
  ButtonLink,
  Empty,
  FileIcon,
  LoadError,
  SearchField,
  useAction,
  visibleName,
  Waiting,
} from '../ui/index.ts'
import { LinkCard } from './link-card.tsx'
import { ShareDialog } from './share-dialog.tsx'

const SHOWN_AT_FIRST = 50

/** All links of the user. */
export function OwnLinks(props: { kind: LinkKind }) {
  const { kind } = props
  const texts = useTexts('sharing')
  const common = useTexts('common')
  const links = useLinks(kind)
  const act = useAction('links', 'shares')
  const [words, setWords] = useState('')
  const [shown, setShown] = useState(SHOWN_AT_FIRST)
  if (links.isPending) return <Waiting />
  if (links.isError) return <LoadError error={links.error} onRetry={() => void links.refetch()} />
  if (links.data.length === 0) {
    const isShare = kind === 'share'
    return (
      <Empty
        icon={isShare ? Link2 : Upload}
        title={isShare ? texts.noLinks : texts.noUploadLinks}
        hint={isShare ? texts.noLinksHint : texts.noUploadLinksHint}
      >
        <ButtonLink to="/">{common.toLibraries}</ButtonLink>
      </Empty>
    )
  }
  const found = links.data.filter((link) => matches(link, words))
  const gone = links.data.filter(({ is_valid }) => !is_valid).length
  return (
    <>
      <div className="sharing-tools">
        <SearchField label={texts.findLinks} value={words} onChange={setWords} />
        {gone > 0 && (
          <Button icon={Eraser} onClick={() => void act(() => cleanLinks(kind), texts.cleaned)}>
            {texts.cleanGone(gone)}
          </Button>
        )}
      </div>
      {found.length === 0 && <Empty icon={SearchX} title={texts.nothingFound} />}
      <ul className="sharing-cards">
        {found.slice(0, shown).map((link) => (
          <OwnLink key={link.token} kind={kind} link={link} />
        ))}
      </ul>
      {found.length > shown && (
        <Button className="sharing-another" onClick={() => setShown(shown + SHOWN_AT_FIRST)}>
          {common.loadMore}
        </Button>
      )}
    </>
  )
}

function matches(link: LinkItem, words: string): boolean {
  const text =
    `${link.repo_name}${link.path} ${link.description} ${link.request?.heading ?? ''} ${link.token}`.toLowerCase()
  return words
    .toLowerCase()
    .split(/\s+/)
    .every((word) => text.includes(word))
}

function OwnLink(props: { kind: LinkKind; link: LinkItem }) {
  const { kind, link } = props
  const texts = useTexts('sharing')
  const [, go] = useLocation()
  const [sharing, setSharing] = useState(false)
  const path = normalizePath(link.path)
  const isDir = link.is_dir ?? true
  const name = path === '/' ? link.repo_name : link.obj_name
  const address = isDir ? folderUrl(link.repo_id, path) : fileUrl(link.repo_id, path)
  return (
    <>
      <LinkCard
        kind={kind}
        link={link}
        isDir={isDir}
        mayWrite={kind === 'upload' || link.repo_folder_permission === 'rw'}
        head={
          <div className="sharing-target">
            <FileIcon name={name} isDir={isDir} />
            <span className="sharing-names">
              {link.is_valid ? (
                <Link to={address} title={name}>
                  <bdi>{visibleName(name)}</bdi>
                </Link>
              ) : (
                <bdi title={name}>{visibleName(name)}</bdi>
              )}
              <bdi className="muted">
                {path === '/' ? texts.wholeLibrary : `${link.repo_name}${shownParent(path)}`}
              </bdi>
            </span>
          </div>
        }
        more={
          link.is_valid
            ? [
                { label: texts.openPlace, icon: FolderOpen, onSelect: () => go(address) },
                { label: texts.shareSettings, icon: Settings2, onSelect: () => setSharing(true) },
              ]
            : []
        }
      />
      {sharing && (
        <ShareDialog
          libraryId={link.repo_id}
          path={path}
          name={name}
          isDir={isDir}
          onClose={() => setSharing(false)}
        />
      )}
    </>
  )
}

const shownParent = (path: string) => (parentOf(path) === '/' ? '' : parentOf(path))
