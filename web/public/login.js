// The page takes the key in its address only if this form was sent in the same tab: anybody can write such an address.
sessionStorage.removeItem('greenroom.login')
document.querySelector('form').addEventListener('submit', () => sessionStorage.setItem('greenroom.login', 'sent'))

// Whoever comes from another site brings no cookie at first, though logged in: ask from here, and go on.
const wanted = document.querySelector('input[name=next]').value
const key = localStorage.getItem('greenroom.key')
if (key && !document.querySelector('[role=alert]') && !document.querySelector('input[name=code]').value)
  fetch('/api/me', { headers: { 'x-greenroom-key': key } }).then((answer) => answer.ok && location.replace(wanted))
// A room's token that came in the address does not stay there.
if (new URLSearchParams(location.search).has('token')) history.replaceState(null, '', '/login')

// The hub shows the form in the browser's language; a language that was chosen on the page counts more.
const language = localStorage.getItem('greenroom.language')
if (document.querySelector(`main [lang="${CSS.escape(language ?? '')}"]`)) {
  document.documentElement.lang = language
  for (const words of document.querySelectorAll('main [lang]')) words.hidden = words.lang !== language
}
