import './shell.css'
import {
  Activity,
  House,
  Images,
  Inbox,
  Keyboard,
  Languages,
  Library,
  LogOut,
  type LucideIcon,
  Menu as MenuIcon,
  Monitor,
  Moon,
  Search,
  Settings,
  Share2,
  Shield,
  Star,
  Sun,
  Trash2,
  Users,
  X,
} from 'lucide-react'

import { type ReactNode, useEffect, useState } from 'react'
import { Link, useLocation } from 'wouter'
import { NotificationBell } from '../activity/index.ts'
import { useAccount } from '../api/index.ts'
import { ArchiveTray } from '../archives/index.ts'
import { Commands, showCommands } from '../commands/index.ts'
import { LibraryTree } from '../files/index.ts'
import { UpdateHint } from '../offline/index.ts'
import { SearchBox } from '../search/index.ts'
import { signOut } from '../session/index.ts'
import { siteUrl } from '../site-url.ts'
import { TaskTray } from '../tasks/index.ts'
import { type Language, languages, useFormats, useLanguage, useTexts } from '../texts/index.ts'
import {
  Avatar,
  chooseTheme,
  IconButton,
  Menu,
  type MenuEntry,
  NARROW,
  Progress,
  useMedia,
  useTheme,
} from '../ui/index.ts'
import { UploadTray } from '../uploads/index.ts'
import { useOnline, useReachable } from './online.ts'

/** Frame of every page: navigation, search, notifications and account menu. */
export function Shell(props: { children: ReactNode }) {
  const texts = useTexts('shell')
  const [location] = useLocation()
  const [menuOpen, setMenuOpen] = useState(false)
  const isPhone = useMedia(NARROW)
  const online = useOnline()
  const isReachable = useReachable()
  useEffect(() => setMenuOpen(false), [location])
  return (
    <div className={`shell${menuOpen ? ' shell-menu-open' : ''}`}>
      <a className="skip" href="#content">
        {texts.skip}
      </a>
      <header className="shell-top">
        {!isPhone && (
          <IconButton
            className="shell-menu-button"
            label={menuOpen ? texts.closeMenu : texts.openMenu}
            aria-expanded={menuOpen}
            aria-controls="shell-side"
            icon={menuOpen ? X : MenuIcon}
            onClick={() => setMenuOpen(!menuOpen)}
          />
        )}
        <Link to="/" className="brand" aria-label={texts.home}>
          <img src={siteUrl('pages/icon.svg').href} alt="" width={28} height={28} />
          <span>Carrel</span>
        </Link>
        <SearchBox />
        <span className="shell-top-end">
          <NotificationBell />
          <AccountMenu />
        </span>
      </header>
      <aside id="shell-side" className="shell-side">
        <Navigation />
        <Space />
      </aside>
      <button
        type="button"
        className="shell-veil"
        aria-label={texts.closeMenu}
        tabIndex={menuOpen ? 0 : -1}
        onClick={() => setMenuOpen(false)}
      />
      <main id="content" className="shell-content" tabIndex={-1}>
        {(!online || !isReachable) && (
          <p className="shell-offline" role="status">
            {online ? texts.serverUnreachable : texts.offline}
          </p>
        )}
        <UpdateHint />
        {props.children}
      </main>
      {isPhone && <BottomBar menuOpen={menuOpen} onMenu={() => setMenuOpen(!menuOpen)} />}
      <div className="shell-trays">
        <TaskTray />
        <ArchiveTray />
        <UploadTray />
      </div>
      <Commands />
    </div>
  )
}

interface Place {
  readonly to: string
  readonly icon: LucideIcon
  readonly label: string
  /** Further addresses that belong to it. */
  readonly within?: readonly string[]
}

function usePlaces() {
  const texts = useTexts('shell')
  const photos = useTexts('photos')
  const { data: account } = useAccount()
  const home: Place = { to: '/home', icon: House, label: texts.homePage }
  const shared: Place = { to: '/shared', icon: Inbox, label: texts.sharedWithMe }
  const libraries: Place = {
    to: '/',
    icon: Library,
    label: texts.libraries,
    within: ['/view', '/history', '/trash/'],
  }
  const first: readonly Place[] = [
    home,
    { to: '/photos', icon: Images, label: photos.title },
    shared,
    { to: '/starred', icon: Star, label: texts.starred },
    { to: '/trash', icon: Trash2, label: texts.trash, within: ['/deleted'] },
  ]
  const last: readonly Place[] = [
    { to: '/links', icon: Share2, label: texts.sharing },
    { to: '/activity', icon: Activity, label: texts.activity },
    { to: '/groups', icon: Users, label: texts.groups },
    ...(account?.is_staff ? [{ to: '/admin', icon: Shield, label: texts.administration }] : []),
  ]
  return { home, shared, libraries, first, last }
}

function isCurrent({ to, within = [] }: Place, location: string): boolean {
  const here = location === to || (to !== '/' && to !== '/trash' && location.startsWith(`${to}/`))
  return here || within.some((start) => location.startsWith(start))
}

function Navigation() {
  const texts = useTexts('shell')
  const [location] = useLocation()
  const { first, libraries, last } = usePlaces()
  const link = (place: Place) => (
    <Link
      key={place.to}
      to={place.to}
      className="shell-place"
      aria-current={isCurrent(place, location) ? 'page' : undefined}
    >
      <place.icon size={19} aria-hidden />
      {place.label}
    </Link>
  )
  return (
    <nav aria-label={texts.navigation}>
      {first.map(link)}
      <hr />
      {link(libraries)}
      <LibraryTree />
      <hr />
      {last.map(link)}
    </nav>
  )
}

/** The navigation of phones, in reach of the thumb. */
function BottomBar(props: { menuOpen: boolean; onMenu: () => void }) {
  const texts = useTexts('shell')
  const [location] = useLocation()
  const { home, libraries, shared } = usePlaces()
  const places: readonly Place[] = [
    home,
    { ...libraries, within: [...(libraries.within ?? []), '/library'] },
    { ...shared, label: texts.shared },
    { to: '/search', icon: Search, label: texts.search },
  ]
  return (
    <nav className="shell-bottom" aria-label={texts.bottomBar}>
      {places.map((place) => (
        <Link
          key={place.to}
          to={place.to}
          className="shell-bottom-place"
          aria-current={isCurrent(place, location) ? 'page' : undefined}
        >
          <place.icon size={21} aria-hidden />
          {place.label}
        </Link>
      ))}
      <button
        type="button"
        className="shell-bottom-place"
        aria-label={props.menuOpen ? texts.closeMenu : texts.openMenu}
        aria-expanded={props.menuOpen}
        aria-controls="shell-side"
        onClick={props.onMenu}
      >
        {props.menuOpen ? <X size={21} aria-hidden /> : <MenuIcon size={21} aria-hidden />}
        {texts.menu}
      </button>
    </nav>
  )
}

function Space() {
  const texts = useTexts('shell')
  const formats = useFormats()
  const { data: account } = useAccount()
  if (account === undefined) return null
  const used = formats.size(account.usage)
  if (account.total <= 0) return <p className="shell-space">{texts.used(used)}</p>
  const label = texts.usedOf(used, formats.size(account.total))
  return (
    <div className="shell-space">
      <Progress value={account.usage / account.total} label={label} />
      <span>{label}</span>
    </div>
  )
}

function AccountMenu() {
  const texts = useTexts('shell')
  const { data: account } = useAccount()
  const theme = useTheme()
  const { language, choose } = useLanguage()
  const [, go] = useLocation()
  const themes = [
    { value: 'system', icon: Monitor, label: texts.themeSystem },
    { value: 'light', icon: Sun, label: texts.themeLight },
    { value: 'dark', icon: Moon, label: texts.themeDark },
  ] as const
  const entries: MenuEntry[] = [
    { label: texts.account, icon: Settings, onSelect: () => go('/account') },
    { label: texts.shortcuts, icon: Keyboard, shortcut: '?', onSelect: () => showCommands('help') },
    'line',
    { heading: texts.theme },
    ...themes.map(({ value, icon, label }) => ({
      label,
      icon,
      checked: value === theme,
      onSelect: () => chooseTheme(value),
    })),
    'line',
    { heading: texts.language },
    ...(Object.entries(languages) as [Language, string][]).map(([key, label]) => ({
      label,
      icon: Languages,
      checked: key === language,
      onSelect: () => choose(key),
    })),
    'line',
    { label: texts.signOut, icon: LogOut, onSelect: () => void signOut() },
  ]
  return (
    <Menu
      title={account?.name}
      trigger={
        <button type="button" className="shell-account" aria-label={texts.account}>
          <Avatar email={account?.email ?? ''} name={account?.name} url={account?.avatar_url} size={32} />
        </button>
      }
      entries={entries}
    />
  )
}
