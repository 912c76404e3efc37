echo "on its way"
