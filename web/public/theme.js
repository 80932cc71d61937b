// Before anything is painted: the look that was chosen last, so that nothing flashes.
const chosen = localStorage.getItem('greenroom.look')
const dark = chosen === 'dark' || (chosen !== 'light' && matchMedia('(prefers-color-scheme: dark)').matches)
document.documentElement.dataset.look = dark ? 'dark' : 'light'
