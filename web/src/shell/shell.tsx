import './shell.css'
import {
  Keyboard,
  Languages,
  LogOut,
  Menu as MenuIcon,
  Monitor,
  Moon,
  Search,
  Settings,
  Sun,
  X,
} from 'lucide-react'

import { type ReactNode, useEffect, useRef, useState } from 'react'
import { Link, useLocation } from 'wouter'
import { NotificationBell } from '../activity/index.ts'
import { useAccount } from '../api/index.ts'
import { ArchiveTray } from '../archives/index.ts'
import { Commands, type NavigationPlace, showCommands, useNavigationPlaces } from '../commands/index.ts'
import { LibraryTree } from '../files/index.ts'
import { UpdateHint } from '../offline/index.ts'
import { SearchBox } from '../search/index.ts'
import { signOut } from '../session/index.ts'
import { siteUrl } from '../site-url.ts'
import { TaskTray } from '../tasks/index.ts'
import { languages, useFormats, useLanguage, useTexts } from '../texts/index.ts'
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
  const top = useRef<HTMLElement>(null)
  useEffect(() => {
    setMenuOpen(false)
    // The file that a search result opens is below the top bar, which is shown while it has the focus.
    if (location.startsWith('/view/') && top.current?.contains(document.activeElement))
      document.getElementById('content')?.focus()
  }, [location])
  return (
    <div className={`shell${menuOpen ? ' shell-menu-open' : ''}`}>
      <a className="skip" href="#content">
        {texts.skip}
      </a>
      <header ref={top} className="shell-top">
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

function isCurrent({ to, within = [] }: NavigationPlace, location: string): boolean {
  const here = location === to || (to !== '/' && to !== '/trash' && location.startsWith(`${to}/`))
  return here || within.some((start) => location.startsWith(start))
}

function Navigation() {
  const texts = useTexts('shell')
  const [location] = useLocation()
  const { first, libraries, last } = useNavigationPlaces()
  const link = (place: NavigationPlace) => (
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
  const { home, libraries, shared, first, last } = useNavigationPlaces()
  const places: readonly NavigationPlace[] = [
    home,
    { ...libraries, within: [...(libraries.within ?? []), '/library'] },
    { ...shared, label: texts.shared },
    { to: '/search', icon: Search, label: texts.search },
  ]
  const isHere = (place: NavigationPlace) => isCurrent(place, location)
  // The menu stands for the pages that only it leads to, so that the bar shows where the user is.
  const isInMenu = !places.some(isHere) && [...first, ...last].some(isHere)
  return (
    <nav className="shell-bottom" aria-label={texts.bottomBar}>
      {places.map((place) => (
        <Link
          key={place.to}
          to={place.to}
          className="shell-bottom-place"
          aria-current={isHere(place) ? 'page' : undefined}
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
        aria-current={isInMenu ? 'true' : undefined}
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
  const hasQuota = account.total > 0
  const label = hasQuota ? texts.usedOf(used, formats.size(account.total)) : texts.used(used)
  return (
    <Link to="/storage" className="shell-space">
      {hasQuota && <Progress value={account.usage / account.total} label={label} />}
      <span>{label}</span>
    </Link>
  )
}

function AccountMenu() {
  const texts = useTexts('shell')
  const { data: account } = useAccount()
  const theme = useTheme()
  const { language } = useLanguage()
  const languageName = languages.find((entry) => entry.language === language)?.name ?? language
  const [location, go] = useLocation()
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
    { label: texts.languageIs(languageName), icon: Languages, onSelect: () => go('/account/appearance') },
    'line',
    { label: texts.signOut, icon: LogOut, onSelect: () => void signOut() },
  ]
  return (
    <Menu
      title={account?.name}
      trigger={
        <button
          type="button"
          className="shell-account"
          aria-label={texts.account}
          aria-current={location.startsWith('/account') ? 'true' : undefined}
        >
          <Avatar email={account?.email ?? ''} name={account?.name} url={account?.avatar_url} size={32} />
        </button>
      }
      entries={entries}
    />
  )
}
