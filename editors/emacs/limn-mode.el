;;; limn-mode.el --- The language limn: deep learning written as diagrams -*- lexical-binding: t -*-

;; Version: @VERSION@
;; Package-Requires: ((emacs "26.1"))
;; Keywords: languages

;;; Commentary:
;; Colours and indentation for programs in limn; with eglot, all that `limn lsp' knows: (add-hook 'limn-mode-hook #'eglot-ensure)

;;; Code:
(defconst limn-declarations '(@DECLARATIONS@))
(defconst limn-keywords '(@KEYWORDS@))
(defconst limn-builtins '(@BUILTINS@))

(defconst limn-font-lock-keywords
  `(("^\\(box\\|learn\\|machine\\|wiring\\|diagram\\|optimiser\\|space\\|axis\\|const\\)\\s-+\\(\\(?:\\sw\\|\\s_\\)+\\)"
     (1 font-lock-keyword-face) (2 font-lock-function-name-face))
    (,(regexp-opt limn-declarations 'symbols) . font-lock-keyword-face)
    (,(regexp-opt limn-keywords 'symbols) . font-lock-keyword-face)
    ("\\_<[RB]\\_>\\[" . font-lock-type-face)
    (,(regexp-opt limn-builtins 'symbols) . font-lock-builtin-face)
    ("\\_<[0-9]+\\(\\.[0-9]+\\)?\\([eE][-+]?[0-9]+\\)?\\_>" . font-lock-constant-face)))

(defvar limn-mode-syntax-table
  (let ((table (make-syntax-table)))
    (modify-syntax-entry ?# "<" table)
    (modify-syntax-entry ?\n ">" table)
    (modify-syntax-entry ?_ "_" table)
    (modify-syntax-entry ?' "." table)
    (modify-syntax-entry ?\" "\"" table)
    table))

(defun limn-indent-line ()
  "Indent by two columns for each brace around the line."
  (interactive)
  (let ((depth (save-excursion (beginning-of-line) (car (syntax-ppss))))
        (closes (save-excursion (back-to-indentation) (looking-at "[])}]"))))
    (save-excursion (indent-line-to (* 2 (max 0 (if closes (1- depth) depth)))))
    (when (< (current-column) (current-indentation)) (back-to-indentation))))

;;;###autoload
(define-derived-mode limn-mode prog-mode "limn"
  "Programs in limn."
  (setq-local comment-start "# ")
  (setq-local comment-end "")
  (setq-local indent-line-function #'limn-indent-line)
  (setq-local font-lock-defaults '(limn-font-lock-keywords)))

;;;###autoload
(add-to-list 'auto-mode-alist '("\\.limn\\'" . limn-mode))

(with-eval-after-load 'eglot
  (defvar eglot-server-programs)
  (add-to-list 'eglot-server-programs '(limn-mode . ("limn" "lsp"))))

(provide 'limn-mode)
;;; limn-mode.el ends here
