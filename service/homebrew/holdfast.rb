# Template: `npm run release` fills in what stands in double braces.
class Holdfast < Formula
  desc "Background backup agent: encrypted, deduplicated, verified"
  homepage "{{HOMEPAGE}}"
  version "{{VERSION}}"
  license "Apache-2.0"

  on_macos do
    on_arm do
      url "{{DOWNLOADS}}/holdfast-{{VERSION}}-macos-arm64.tar.gz"
      sha256 "{{SUM_MACOS_ARM}}"
    end
    on_intel do
      url "{{DOWNLOADS}}/holdfast-{{VERSION}}-macos-x64.tar.gz"
      sha256 "{{SUM_MACOS_INTEL}}"
    end
  end
  on_linux do
    on_arm do
      url "{{DOWNLOADS}}/holdfast-{{VERSION}}-linux-arm64.tar.gz"
      sha256 "{{SUM_LINUX_ARM}}"
    end
    on_intel do
      url "{{DOWNLOADS}}/holdfast-{{VERSION}}-linux-x64.tar.gz"
      sha256 "{{SUM_LINUX_INTEL}}"
    end
  end

  def install
    libexec.install Dir["*"]
    bin.install_symlink libexec/"holdfast"
    man1.install_symlink Dir[libexec/"share/man/man1/*"]
    man5.install_symlink Dir[libexec/"share/man/man5/*"]
    bash_completion.install_symlink libexec/"share/bash-completion/completions/holdfast"
    zsh_completion.install_symlink libexec/"share/zsh/site-functions/_holdfast"
    fish_completion.install_symlink libexec/"share/fish/vendor_completions.d/holdfast.fish"
  end

  service do
    run [opt_bin/"holdfast", "start", "--quiet"]
    keep_alive successful_exit: false
    process_type :background
    log_path var/"log/holdfast.log"
    error_log_path var/"log/holdfast.log"
  end

  test do
    ENV["HOLDFAST_STATE_DIR"] = testpath/"state"
    (testpath/"source").mkpath
    (testpath/"source/file").write "kept"
    system bin/"holdfast", "start", "--once", "--source", testpath/"source"
    system bin/"holdfast", "restore", "latest", "--target", testpath/"back"
    assert_equal 1, Dir[testpath/"back/**/file"].length
  end
end
