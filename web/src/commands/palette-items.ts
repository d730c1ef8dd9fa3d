import { useQuery } from '@tanstack/react-query'
import type { LucideIcon } from 'lucide-react'
import { Clock, Library, Search, Settings, Share2, Shield, Star, Tags, Trash2, Zap } from 'lucide-react'
import { useMemo } from 'react'
import { useLocation } from 'wouter'
import { fetchResults, useAccount, useLibraries, useRecentlyOpened, useStarred } from '../api/index.ts'
import { fileUrl, folderUrl, searchUrl, tagsUrl } from '../navigation/index.ts'
import { nameOf, parentOf } from '../paths.ts'
import { useTexts } from '../texts/index.ts'
import { useDebounced } from '../ui/index.ts'
import { fuzzyScore } from './fuzzy.ts'
import { useNavigationPlaces } from './navigation-places.ts'
import { actionsIn, type ProvidedActions } from './provided-actions.ts'

/** One line of the palette. */
export interface PaletteItem {
  readonly key: string
  readonly label: string
  /** Where it is, or what it applies to. */
  readonly about?: string
  readonly icon: LucideIcon
  readonly shortcut?: string
  readonly run: () => void
}

interface PaletteGroup {
  readonly title: string
  readonly items: readonly PaletteItem[]
}

const TYPING_MS = 200
/** Enough for all actions on a selection, and for the places of the side menu. */
const MAX_OF_GROUP = 14
const MAX_PLACES = 7
const MAX_FOUND = 6

/** Everything that matches what was typed, best first in each group. Without a text: actions and places to begin with. */
export function usePaletteGroups(
  typed: string,
  provided: readonly ProvidedActions[],
): { groups: readonly PaletteGroup[]; isSearching: boolean } {
  const texts = useTexts('commands')
  const actions = useMemo(
    () =>
      provided.map(({ title, entries }) => ({
        title,
        items: actionsIn(entries).map((action) => ({
          key: `action ${title} ${action.label}`,
          label: action.label,
          icon: action.icon ?? Zap,
          ...(action.shortcut !== undefined && { shortcut: action.shortcut }),
          run: action.onSelect,
        })),
      })),
    [provided],
  )
  const pages = usePages()
  const places = usePlaces()
  const found = useFound(typed)
  const groups = [
    ...actions,
    { title: texts.places, items: places, limit: MAX_PLACES },
    { title: texts.pages, items: pages },
  ].map(({ title, items, limit = MAX_OF_GROUP }: PaletteGroup & { readonly limit?: number }) => ({
    title,
    items: best(items, typed).slice(0, limit),
  }))
  const listed = new Set(groups.flatMap(({ items }) => items.map(({ key }) => key)))
  const files = found.items.filter(({ key }) => !listed.has(key))
  return {
    groups: [...groups, { title: texts.found, items: files }].filter(({ items }) => items.length > 0),
    isSearching: found.isSearching,
  }
}

function best(items: readonly PaletteItem[], typed: string): readonly PaletteItem[] {
  if (typed.trim() === '') return items
  return items
    .map((item) => ({
      item,
      // The place counts, too, but less than the name.
      score: Math.max(
        fuzzyScore(item.label, typed),
        fuzzyScore(`${item.label} ${item.about ?? ''}`, typed) - 0.5,
      ),
    }))
    .filter(({ score }) => score > 0)
    .sort((a, b) => b.score - a.score)
    .map(({ item }) => item)
}

/** Pages of the side menu, their sections, and those of the settings. */
function usePages(): readonly PaletteItem[] {
  const shell = useTexts('shell')
  const account = useTexts('account')
  const admin = useTexts('admin')
  const sharing = useTexts('sharing')
  const annotations = useTexts('annotations')
  const { data: user } = useAccount()
  const [location, go] = useLocation()
  const { first, libraries, last } = useNavigationPlaces()
  const library = /^\/(?:view|history|trash|tags)\/([^/?]+)/.exec(location)?.[1]
  const sections = ['profile', 'security', 'devices', 'tokens', 'appearance'] as const
  const adminSections = Object.entries(admin.sections)
  const pages: { to: string; label: string; icon: LucideIcon; about?: string }[] = [
    ...[...first, libraries, ...last].map(({ to, label, icon }) => ({ to, label, icon })),
    // Tags belong to a library: the one that is open. A folder has them among its actions.
    ...(library === undefined ? [] : [{ to: tagsUrl(library), label: annotations.tags, icon: Tags }]),
    { to: '/links?tab=by-me', label: sharing.sharedByMe, icon: Share2, about: shell.sharing },
    { to: '/links?tab=upload', label: sharing.uploadLinks, icon: Share2, about: shell.sharing },
    { to: '/deleted', label: shell.deleted, icon: Trash2, about: shell.trash },
    { to: '/search', label: shell.search, icon: Search },
    ...sections.map((name) => ({
      to: name === 'profile' ? '/account' : `/account/${name}`,
      label: account[name],
      icon: Settings,
      about: account.title,
    })),
    ...(user?.is_staff
      ? adminSections.map(([name, label]) => ({
          // The first section has a key of its own, because the side menu has its address.
          to: `/admin/${name}`,
          label,
          icon: Shield,
          about: shell.administration,
        }))
      : []),
  ]
  return pages.map(({ to, ...page }) => ({ ...page, key: to, run: () => go(to) }))
}

/** Places opened last, libraries and starred items, each once. */
function usePlaces(): readonly PaletteItem[] {
  const [, go] = useLocation()
  const { data: libraries = [] } = useLibraries()
  const { data: starred = [] } = useStarred()
  const opened = useRecentlyOpened() ?? []
  const items = [
    ...opened.map(({ libraryId, libraryName, path, isDir }) => ({
      to: (isDir ? folderUrl : fileUrl)(libraryId, path),
      label: path === '/' ? libraryName : nameOf(path),
      icon: Clock,
      ...(path !== '/' && { about: whereOf(libraryName, path) }),
    })),
    ...starred
      .filter(({ deleted }) => !deleted)
      .map(({ repo_id, repo_name, is_dir, path }) => {
        const plain = path.length > 1 ? path.replace(/\/$/, '') : path
        return {
          to: (is_dir ? folderUrl : fileUrl)(repo_id, plain),
          label: plain === '/' ? repo_name : nameOf(plain),
          icon: Star,
          ...(plain !== '/' && { about: whereOf(repo_name, plain) }),
        }
      }),
    ...libraries.map(({ repo_id, repo_name, owner_name }) => ({
      to: folderUrl(repo_id),
      label: repo_name,
      icon: Library,
      ...(owner_name !== '' && { about: owner_name }),
    })),
  ]
  const once = new Map<string, PaletteItem>()
  for (const { to, ...item } of items)
    if (!once.has(to)) once.set(to, { ...item, key: to, run: () => go(to) })
  return [...once.values()]
}

/** Files and folders found by the search of the server, and the page with all of them. */
function useFound(typed: string): { items: readonly PaletteItem[]; isSearching: boolean } {
  const search = useTexts('search')
  const [, go] = useLocation()
  const now = typed.trim()
  const words = useDebounced(now, TYPING_MS)
  const { data, isFetching } = useQuery({
    queryKey: ['search', 'quick', words, MAX_FOUND],
    queryFn: ({ signal }) => fetchResults({ q: words }, { perPage: MAX_FOUND }, signal),
    enabled: words.length > 1,
  })
  if (now === '') return { items: [], isSearching: false }
  // A comment leads to a file that may be among the results already.
  const all = words === now ? (data?.results ?? []) : []
  const results = all.filter(
    ({ repo_id, fullpath, comment }) =>
      comment === undefined ||
      !all.some((one) => one.comment === undefined && one.repo_id === repo_id && one.fullpath === fullpath),
  )
  const items = results.map(({ repo_id, repo_name, name, fullpath, is_dir }) => {
    const to = (is_dir ? folderUrl : fileUrl)(repo_id, fullpath)
    return { key: to, label: name, about: whereOf(repo_name, fullpath), icon: Search, run: () => go(to) }
  })
  const everything = {
    key: 'search',
    label: `${search.allFor} ${now}`,
    icon: Search,
    run: () => go(searchUrl(now)),
  }
  return { items: [...items, everything], isSearching: isFetching || words !== now }
}

/** The folder of a path, with its library. */
function whereOf(libraryName: string, path: string): string {
  const folder = parentOf(path)
  return folder === '/' ? libraryName : `${libraryName}${folder}`
}
