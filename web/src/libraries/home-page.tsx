import './libraries.css'
import { House } from 'lucide-react'
import type { ReactNode } from 'react'
import { Link } from 'wouter'
import {
  type ActivityItem,
  useActivities,
  useLibraries,
  useOnboarding,
  useRecentlyOpened,
  useSharedFiles,
  useStarred,
} from '../api/index.ts'
import { fileUrl, folderUrl } from '../navigation/index.ts'
import { nameOf, normalizePath } from '../paths.ts'
import { useFormats, useTexts } from '../texts/index.ts'
import { ButtonLink, Empty, FileIcon, useTitle, visibleName, Waiting } from '../ui/index.ts'
import { FilePicture } from './file-picture.tsx'
import { FirstSteps } from './first-steps.tsx'
import { LibraryIcon } from './library-row.tsx'
import { recentFiles } from './recent-files.ts'

const MAX_CARDS = 6
const MAX_FILES = 10

/** What the user needs first: opened places, recent files, what was shared, stars. */
export default function HomePage() {
  const texts = useTexts('libraries')
  useTitle(texts.homeTitle)
  const formats = useFormats()
  const known = useRecentlyOpened()
  const opened = known ?? []
  const activities = useActivities('')
  const libraries = useLibraries()
  const starred = useStarred()
  const files = recentFiles(activities.data?.pages.flat() ?? []).slice(0, MAX_FILES)
  const { data: sharedFiles = [] } = useSharedFiles()
  const sharedLibraries = (libraries.data ?? []).filter(({ type }) => type === 'shared' || type === 'group')
  const shared = [...sharedLibraries, ...sharedFiles]
    .toSorted((a, b) => Date.parse(b.last_modified) - Date.parse(a.last_modified))
    .slice(0, MAX_CARDS)
  const stars = (starred.data ?? []).filter(({ deleted }) => !deleted).slice(0, MAX_CARDS)
  // Until the libraries are known, no thumbnail is requested that an encrypted one would refuse.
  const encrypted = new Set(
    (libraries.data ?? []).filter((library) => library.encrypted).map(({ repo_id }) => repo_id),
  )
  const isLoading = known === undefined || activities.isPending || libraries.isPending || starred.isPending
  // The welcome card and the setup checklist say the same, and more.
  const { data: onboarding } = useOnboarding()
  const isWelcomed = onboarding === undefined || !onboarding.dismissed.includes('welcome')
  const isEmpty = opened.length + files.length + shared.length + stars.length === 0
  return (
    <div className="page">
      <div className="page-head">
        <h1>{texts.homeTitle}</h1>
      </div>
      <FirstSteps />
      {isEmpty &&
        (isLoading ? (
          <Waiting />
        ) : (
          !isWelcomed && (
            <Empty icon={House} title={texts.homeEmpty} hint={texts.homeEmptyHint}>
              <ButtonLink to="/">{texts.title}</ButtonLink>
            </Empty>
          )
        ))}
      <Cards title={texts.continueHere}>
        {opened.slice(0, MAX_CARDS).map(({ libraryId, libraryName, path, isDir }) => (
          <Card
            key={libraryId + path}
            to={(isDir ? folderUrl : fileUrl)(libraryId, path)}
            icon={
              path === '/' ? (
                <LibraryIcon encrypted={false} />
              ) : (
                <FileIcon name={nameOf(path)} isDir={isDir} />
              )
            }
            name={path === '/' ? libraryName : nameOf(path)}
            about={path === '/' ? texts.inLibrary : libraryName}
          />
        ))}
      </Cards>
      {files.length > 0 && (
        <section className="home-section">
          <div className="home-title">
            <h2>{texts.recentFiles}</h2>
            <Link to="/recent">{texts.showAllRecent}</Link>
          </div>
          <ul className="card home-files">
            {files.map((item) => (
              <RecentFile
                key={item.repo_id + item.path}
                item={item}
                isEncrypted={libraries.data === undefined || encrypted.has(item.repo_id)}
              />
            ))}
          </ul>
        </section>
      )}
      <Cards title={texts.recentlyShared}>
        {shared.map((item) =>
          'file_name' in item ? (
            <Card
              key={item.repo_id}
              to={fileUrl(item.repo_id, item.path)}
              icon={<FileIcon name={item.file_name} />}
              name={item.file_name}
              about={texts.changedBy(item.owner_name, formats.ago(item.last_modified))}
            />
          ) : (
            <Card
              key={item.repo_id}
              to={folderUrl(item.repo_id)}
              icon={<LibraryIcon encrypted={item.encrypted} />}
              name={item.repo_name}
              about={texts.changedBy(
                item.owner_name || item.group_name || item.modifier_name,
                formats.ago(item.last_modified),
              )}
            />
          ),
        )}
      </Cards>
      <Cards title={texts.starred}>
        {stars.map(({ repo_id: id, repo_name, repo_encrypted, path, obj_name, is_dir: isDir, mtime }) => (
          <Card
            key={id + path}
            to={isDir ? folderUrl(id, normalizePath(path)) : fileUrl(id, path)}
            icon={
              path === '/' ? (
                <LibraryIcon encrypted={repo_encrypted} />
              ) : (
                <FilePicture
                  libraryId={id}
                  path={normalizePath(path)}
                  isDir={isDir}
                  isEncrypted={repo_encrypted}
                  version={mtime}
                />
              )
            }
            name={obj_name}
            about={path === '/' ? texts.inLibrary : repo_name}
          />
        ))}
      </Cards>
    </div>
  )
}

function Cards(props: { title: string; children: readonly ReactNode[] }) {
  if (props.children.length === 0) return null
  return (
    <section className="home-section">
      <h2>{props.title}</h2>
      <div className="home-cards">{props.children}</div>
    </section>
  )
}

function Card(props: { to: string; icon: ReactNode; name: string; about: string }) {
  return (
    <Link to={props.to} className="card home-card" title={props.name}>
      {props.icon}
      <span className="libraries-words">
        <bdi className="libraries-title">{visibleName(props.name)}</bdi>
        <bdi className="home-about muted">{props.about}</bdi>
      </span>
    </Link>
  )
}

function RecentFile({ item, isEncrypted }: { item: ActivityItem; isEncrypted: boolean }) {
  const texts = useTexts('libraries')
  const common = useTexts('common')
  const formats = useFormats()
  const author = item.via_link ? common.visitor(item.author_name) : item.author_name
  return (
    <li>
      <Link to={fileUrl(item.repo_id, item.path)} className="home-file" title={item.name}>
        <FilePicture
          libraryId={item.repo_id}
          path={item.path}
          isEncrypted={isEncrypted}
          version={item.time}
        />
        <bdi className="home-name">{visibleName(item.name)}</bdi>
        <bdi className="home-about home-library muted">{item.repo_name}</bdi>
        <span className="home-about muted">{texts.changedBy(author, formats.ago(item.time))}</span>
      </Link>
    </li>
  )
}
